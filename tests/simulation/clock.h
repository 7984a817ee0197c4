// SPDX-License-Identifier: BSD-3-Clause
//
// The clock of a simulation: it moves only when a step moves it. The program is linked so that Cairn's calls of
// clock_gettime come here (tests/CMakeLists.txt). RocksDB is a shared library and keeps the system's clock.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>

namespace cairn::simulation {

class VirtualClock {
 public:
  static int64_t NowMs() { return now_us_.load() / 1000; }
  static int64_t NowUs() { return now_us_.load(); }
  static void Advance(int64_t ms) { AdvanceUs(ms * 1000); }
  static void AdvanceUs(int64_t us) { now_us_ += us; }
  static void Reset() { now_us_ = kStartUs; }

 private:
  static constexpr int64_t kStartUs = 1'700'000'000'000'000;
  static inline std::atomic<int64_t> now_us_{kStartUs};
};

}  // namespace cairn::simulation
