// SPDX-License-Identifier: BSD-3-Clause
//
// Crowding: whether no processor of the machine is free. Who works on the side has better do so in few large pieces
// then, since each piece displaces somebody (docs/decisions/replica-cost.md).
//
// Thread: the owner's.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace cairn {

class Crowding {
 public:
  // `idle_share` is IdleTime::Share (base/processor_time.h) of an IdleTime made just now; `now_us`, here and below, is
  // monotonic time.
  Crowding(std::function<double()> idle_share, int64_t now_us)
      : idle_share_(std::move(idle_share)), window_us_(now_us) {}

  // What was found in the last window.
  bool is_crowded() const { return is_crowded_; }
  // To be called now and then. When a window ends, `works` says, given its length, whether the caller has done so much
  // in it that others notice. Where it has not the kernel is not asked, and nothing is crowded.
  template <typename Works>
  void Note(int64_t now_us, const Works& works) {
    const int64_t length_us = now_us - window_us_;
    if (length_us < kWindowUs) return;
    is_crowded_ = works(length_us) && idle_share_() < kLeastIdle;
    window_us_ = now_us;
  }

 private:
  // Of a while: of a turn, or of many pieces.
  static constexpr int64_t kWindowUs = 250000;
  // No processor is free when less than this is idle.
  static constexpr double kLeastIdle = 0.2;

  const std::function<double()> idle_share_;
  int64_t window_us_;  // when it began
  bool is_crowded_ = false;
};

}  // namespace cairn
