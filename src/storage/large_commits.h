// SPDX-License-Identifier: BSD-3-Clause
//
// LargeCommits: commits with very large values, or with very many rows, take turns, so that many clients that write
// these at once do not multiply the memory that one commit needs.
//
// Until its end a commit holds each large value twice: in the transaction's rows and in RocksDB's batch, then in the
// batch and in a memtable. A transaction takes the turn before it copies its first such value, or when its rows need a
// large part of what a command may use (CommandMemory), and keeps it until the tick ends. Meanwhile the other ones
// wait; large values are in their requests only.
//
// A memtable with such a value is as large as the value, and RocksDB flushes it only at a later write. So a turn ends
// with the request of a flush if the memtables exceed their share of the budget, and the next turn waits for it.
//
// The holder never waits for a key: it locked one before, and later locks of the same tick are only tried.
//
// Thread: any, except those of the fast lane.
#pragma once

#include <cstdint>

#include "base/mutex.h"

namespace cairn {

class Engine;

class LargeCommits {
 public:
  explicit LargeCommits(Engine& engine) : engine_(engine) {}

  // Whether the commit of a value of this size needs the turn.
  bool Includes(uint64_t bytes) const;

  // The turn, while it exists. Its construction waits for the previous one.
  class Turn {
   public:
    explicit Turn(LargeCommits& commits);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    LargeCommits& commits_;
  };

 private:
  // Whether the memtables exceed their share of the budget.
  bool HasFullMemtables() const;

  Engine& engine_;
  Mutex mutex_;  // a leaf
  CondVar ended_;
  bool is_taken_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace cairn
