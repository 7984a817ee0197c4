// SPDX-License-Identifier: BSD-3-Clause
#include "server/apply_turns.h"

#include <utility>

namespace cairn {
namespace {

// What is measured is that of a while: of a turn, or of many pieces.
constexpr int64_t kWindowUs = 250000;
// No processor is free when less than this is idle.
constexpr double kLeastIdle = 0.2;
// A replica that does little displaces nobody: less than one part in so many of a processor.
constexpr int64_t kLeastWork = 20;

}  // namespace

ApplyTurns::ApplyTurns(std::function<double()> idle_share, std::function<int64_t()> cpu_us, int64_t now_us)
    : idle_share_(std::move(idle_share)), measure_cpu_us_(std::move(cpu_us)), now_us_(now_us), window_us_(now_us),
      cpu_us_(measure_cpu_us_()), asked_us_(now_us - kPatientUs) {}

bool ApplyTurns::NoteReceived(std::string_view bytes, int64_t now_us) {
  if (!is_crowded_ || bytes.find(kAskingWord) == std::string_view::npos) return false;
  now_us_ = asked_us_ = now_us;
  return true;
}

void ApplyTurns::End(int64_t now_us) {
  now_us_ = now_us;
  const int64_t window_us = now_us - window_us_;
  if (window_us < kWindowUs) return;
  const int64_t cpu_us = measure_cpu_us_();
  const bool works = (cpu_us - cpu_us_) * kLeastWork > window_us;
  is_crowded_ = works && idle_share_() < kLeastIdle;  // a replica that rests does not ask the kernel
  window_us_ = now_us;
  cpu_us_ = cpu_us;
}

}  // namespace cairn
