// SPDX-License-Identifier: BSD-3-Clause
//
// ApplyTurns: whether a replica carries out its primary's stream as it comes, or gathers what comes in
// `repl-apply-delay` and carries it out in one go.
//
// Where a processor is free, as it comes. Where none is, each small piece of work displaces somebody who serves
// clients: two threads that talk to one another, as a primary and its load do, end up on one processor and take turns
// there, and the kernel needs some 10 ms to part them again, when the next piece has come long since. One long turn now
// and then leaves them alone for the rest of the time (docs/decisions/replica-cost.md). Whoever waits for the replica
// (REPLCONF GETACK, of WAIT and FAILOVER) is not made to wait for that: for a while after it was asked, nothing is
// gathered.
//
// Thread: "follow".
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/crowding.h"

namespace cairn {

class ApplyTurns {
 public:
  // A word of the stream that says that somebody waits.
  static constexpr std::string_view kAskingWord = "GETACK";
  // Most bytes of the stream that are gathered.
  static constexpr uint64_t kMostBytes = 8 << 20;
  // While gathering, how often what has come is taken off the connection.
  static constexpr int64_t kPauseUs = 20000;

  // `idle_share` is IdleTime::Share of an IdleTime made just now, `cpu_us` ThreadCpuUs of the replica's thread;
  // `now_us`, here and below, is monotonic time.
  ApplyTurns(std::function<double()> idle_share, std::function<int64_t()> cpu_us, int64_t now_us);
  // Whether what comes from now on is to be gathered.
  bool Gathers() const { return crowding_.is_crowded() && now_us_ - asked_us_ > kPatientUs; }
  // These bytes have come; whether they ask how far the replica is. The first few may be of those before.
  bool NoteReceived(std::string_view bytes, int64_t now_us);
  // Everything that has come is carried out.
  void End(int64_t now_us);

 private:
  static constexpr int64_t kPatientUs = 2000000;

  Crowding crowding_;
  const std::function<int64_t()> measure_cpu_us_;
  int64_t now_us_;
  int64_t cpu_us_;  // when the last window ended
  int64_t asked_us_;
};

}  // namespace cairn
