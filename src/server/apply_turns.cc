// SPDX-License-Identifier: BSD-3-Clause
#include "server/apply_turns.h"

#include <utility>

namespace cairn {
namespace {

// A replica that does little displaces nobody: less than one part in so many of a processor.
constexpr int64_t kLeastWork = 20;

}  // namespace

ApplyTurns::ApplyTurns(std::function<double()> idle_share, std::function<int64_t()> cpu_us, int64_t now_us)
    : crowding_(std::move(idle_share), now_us), measure_cpu_us_(std::move(cpu_us)), now_us_(now_us),
      cpu_us_(measure_cpu_us_()), asked_us_(now_us - kPatientUs) {}

bool ApplyTurns::NoteReceived(std::string_view bytes, int64_t now_us) {
  if (!crowding_.is_crowded() || bytes.find(kAskingWord) == std::string_view::npos) return false;
  now_us_ = asked_us_ = now_us;
  return true;
}

void ApplyTurns::End(int64_t now_us) {
  now_us_ = now_us;
  crowding_.Note(now_us, [this](int64_t window_us) {
    const int64_t before_us = std::exchange(cpu_us_, measure_cpu_us_());
    return (cpu_us_ - before_us) * kLeastWork > window_us;
  });
}

}  // namespace cairn
