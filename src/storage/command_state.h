// SPDX-License-Identifier: BSD-3-Clause
//
// CommandState: what belongs to the command that runs on a transaction: its lane, its time, its budget of work, what it
// met, and what INFO counts of it. It begins anew with each command, so nothing of one command reaches the next.
//
// Thread: its transaction's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "storage/counters.h"

namespace cairn {

enum class Lane : unsigned char { kFast, kSlow };

class CommandState {
 public:
  Lane lane() const { return lane_; }
  int64_t now_ms() const { return now_ms_; }  // fixed for the command
  int64_t now_s() const { return now_ms_ / 1000; }

  // Whether keys whose time has passed count as there, as on a replica, where the primary deletes them. Holds for all
  // commands from then on.
  void KeepExpired(bool keeps) { keeps_expired_ = keeps; }
  bool keeps_expired() const { return keeps_expired_; }
  // Whether a key or field with this deadline is gone. Never where such keys are kept: the primary ran the command
  // earlier, when the key was there, and its next command may give the key more time.
  bool HasPassed(int64_t when_ms) const { return when_ms <= now_ms_ && !(keeps_expired_ && when_ms > 0); }

  // Why what the command, or a part of it, has written or told cannot be stored: the client's error. OK when it can.
  // The writes of that part must be taken back.
  Status TakeRefusal() { return refusal_.empty() ? Ok() : Status::Reply(std::exchange(refusal_, {})); }

  // ---- work
  // The command, which only reads, ends with an error at its next step once the flag is true: nobody wants its answer.
  void StopAt(const bool* flag) { stop_ = flag; }
  // Takes `steps` from the fast lane's work budget; kWouldWait when it is used up.
  Status Spend(uint64_t steps) {
    if (stop_ != nullptr && *stop_) return Status::Reply("ERR stopped");
    if (lane_ == Lane::kSlow) return Ok();
    if (steps > steps_left_) return Status::WouldWait();
    steps_left_ -= steps;
    return Ok();
  }
  // Takes what so many reads of tables cost from it; at most all there is left.
  void SpendReads(uint64_t reads) { steps_left_ -= std::min(steps_left_, reads * kStepsOfRead); }

  // ---- what it met
  // Whether the command looked at a key that this tick, or the one it follows, has changed or may have.
  bool saw_uncommitted() const { return saw_uncommitted_; }
  // Whether the command was answered kWouldWait because another transaction holds a key.
  bool met_lock() const { return met_lock_; }
  // The tagged row that was not in memory, if the command was answered kWouldWait for that; else empty.
  std::string TakeMissingRow() { return std::exchange(missing_row_, {}); }

  // ---- what INFO counts, once the command has finished
  // For keyspace_hits and keyspace_misses.
  void CountLookup(bool hit) { ++(hit ? hits_ : misses_); }
  // A key was deleted or replaced because its time had passed.
  void CountExpired() { ++expired_; }
  // How often the command has changed something, for rdb_changes_since_last_save.
  void CountChanges(uint64_t changes) { changes_ += changes; }

  // ---- storage/ calls these
  // `reads` says that look-ups count.
  void Begin(Lane lane, int64_t now_ms, bool reads) {
    lane_ = lane;
    now_ms_ = now_ms;
    reads_ = reads;
    steps_left_ = kFastLaneSteps;
    stop_ = nullptr;
    saw_uncommitted_ = met_lock_ = false;
    missing_row_.clear();
    hits_ = misses_ = expired_ = changes_ = 0;
    refusal_ = {};
  }
  void NoteUncommitted() { saw_uncommitted_ = true; }
  // kWouldWait, for a key that another transaction holds.
  Status MeetLock() {
    met_lock_ = true;
    return Status::WouldWait();
  }
  // kWouldWait, for a row that is not in memory.
  Status MissRow(std::string_view tagged) {
    missing_row_ = tagged;
    return Status::WouldWait();
  }
  // What the command has written or told cannot be stored: the client's error, a literal.
  void Refuse(std::string_view error) { refusal_ = error; }
  uint64_t changes() const { return changes_; }
  // Takes back what a part of it, or all of it, has done. It had changed so much before.
  void RollbackTo(uint64_t changes) {
    refusal_ = {};
    changes_ = changes;
  }
  void CountIn(KeyspaceCounters& counters) const {
    if (reads_) {
      if (hits_ != 0) counters.keyspace_hits.Add(hits_);
      if (misses_ != 0) counters.keyspace_misses.Add(misses_);
    }
    if (expired_ != 0) counters.expired_keys.Add(expired_);
  }

  // Rows a fast lane command may walk over; about a millisecond (docs/decisions/run-again.md).
  static constexpr uint64_t kFastLaneSteps = 2048;

 private:
  // What is out of a table and in the page cache is copied, checked and unpacked: some five microseconds.
  static constexpr uint64_t kStepsOfRead = 32;

  Lane lane_ = Lane::kFast;
  bool reads_ = false;
  bool saw_uncommitted_ = false;
  bool met_lock_ = false;
  bool keeps_expired_ = false;
  int64_t now_ms_ = 0;
  uint64_t steps_left_ = 0;
  const bool* stop_ = nullptr;
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
  uint64_t expired_ = 0;
  uint64_t changes_ = 0;
  std::string_view refusal_;
  std::string missing_row_;
};

}  // namespace cairn
