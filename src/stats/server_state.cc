// SPDX-License-Identifier: BSD-3-Clause
#include "stats/server_state.h"

#include <random>

#include "base/assert.h"
#include "base/clock.h"

namespace cairn {
namespace {

constexpr int kRunIdDigits = 40;
constexpr char kHexDigits[] = "0123456789abcdef";

std::string DrawRunId() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < kRunIdDigits; ++i) id.push_back(kHexDigits[random() % 16]);
  return id;
}

}  // namespace

Identity Identity::Make(std::string executable, std::string config_file) {
  Identity identity{.executable = std::move(executable), .config_file = std::move(config_file)};
  identity.run_id = DrawRunId();
  identity.started_us = MonotonicUs();
  identity.started_unix_s = WallMs() / 1000;
  return identity;
}

void ShutdownRequest::Ask(const ShutdownOptions& options) {
  {
    const MutexLock lock(mutex_);
    if (asked()) return;
    options_ = options;
    asked_.store(true, std::memory_order_release);
  }
  if (wake_) wake_();
}

ShutdownOptions ShutdownRequest::options() const {
  ASSERT(asked(), "there are no options before there is a request");
  const MutexLock lock(mutex_);
  return options_;
}

}  // namespace cairn
