// SPDX-License-Identifier: BSD-3-Clause
#include "client/cross_protocol.h"

#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "command/args.h"

namespace cairn {
namespace {

constexpr int64_t kSilenceUs = 60 * 1000000;

}  // namespace

bool CrossProtocolAlarm::IsHttp(std::string_view word) {
  return EqualsIgnoreCase(word, "post") || EqualsIgnoreCase(word, "host:");
}

void CrossProtocolAlarm::Sound(std::string_view peer) {
  const int64_t now_us = MonotonicUs();
  int64_t until_us = silent_until_us_.load();
  if (now_us < until_us || !silent_until_us_.compare_exchange_strong(until_us, now_us + kSilenceUs)) return;
  Log(LogSeverity::kWarning,
      "Possible SECURITY ATTACK detected: a client sent HTTP (POST or Host:), perhaps a browser that an attacker "
      "makes send commands. The connection from {} was closed.",
      peer);
}

}  // namespace cairn
