// SPDX-License-Identifier: BSD-3-Clause
//
// CommandState: the state of the command that runs on a transaction: its lane, time and work budget, the locks and
// misses it met, and its counts for INFO. Each command starts with a fresh one, so no command affects the next.
//
// Thread: that of its transaction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "storage/command_memory.h"
#include "storage/counters.h"

namespace cairn {

enum class Lane : unsigned char { kFast, kSlow };

class CommandState {
 public:
  Lane lane() const { return lane_; }
  int64_t now_ms() const { return now_ms_; }  // fixed for the command
  int64_t now_s() const { return now_ms_ / 1000; }

  // Whether expired keys count as existing, as on a replica, where the primary deletes them. Stays set.
  void KeepExpired(bool keeps) { keeps_expired_ = keeps; }
  bool keeps_expired() const { return keeps_expired_; }
  // Whether a key or field with this deadline has expired. Never true where expired keys are kept: the primary ran the
  // command earlier, when the key still existed, and its next command may extend the deadline.
  bool HasPassed(int64_t when_ms) const { return when_ms <= now_ms_ && !(keeps_expired_ && when_ms > 0); }

  // Whether reads do not count as uses of keys, as after CLIENT NO-TOUCH. Stays set.
  void OnlyPeek(bool peeks) { only_peeks_ = peeks; }
  bool only_peeks() const { return only_peeks_; }

  // The client's error if the writes or replicated commands of this command, or of a part of it, cannot be stored;
  // else OK. On an error the writes of that part must be rolled back.
  // kWouldWait if the command must run on the slow lane (NeedSlowLane).
  Status TakeRefusal() {
    const std::string_view why = std::exchange(refusal_, {});
    if (why.empty()) return Ok();
    return why == kNeedsSlowLane ? Status::WouldWait() : Status::Reply(std::string(why));
  }

  // What the command uses and may use. BeginCommand takes the limit away.
  CommandMemory& memory() { return memory_; }

  // ---- work
  // Once the flag is true, the command (one that only reads) ends with an error at its next step: its client is gone.
  void StopAt(const bool* flag) { stop_ = flag; }
  // Takes `steps` from the fast lane's work budget; kWouldWait when it is used up. On the slow lane an error if the
  // command uses too much memory; on the fast lane kWouldWait.
  Status Spend(uint64_t steps) {
    if (stop_ != nullptr && *stop_) return Status::Reply("ERR stopped");
    if (memory_.is_too_much()) [[unlikely]]
      return lane_ == Lane::kSlow ? Status::Reply(std::string(CommandMemory::kTooMuch)) : Status::WouldWait();
    if (lane_ == Lane::kSlow) return Ok();
    if (steps > steps_left_) return Status::WouldWait();
    steps_left_ -= steps;
    return Ok();
  }
  // Takes the cost of a walk over this many elements of a packed collection: a step for every kElementsPerStep of all
  // walks of the command. kWouldWait when the work budget is used up.
  Status SpendOnPacked(uint64_t elements) {
    packed_elements_ += elements;
    if (packed_elements_ < kElementsPerStep) return Ok();
    const uint64_t steps = packed_elements_ / kElementsPerStep;
    packed_elements_ %= kElementsPerStep;
    return Spend(steps);
  }
  // Takes the cost of `reads` table reads from the work budget; never more than is left.
  void SpendReads(uint64_t reads) { steps_left_ -= std::min(steps_left_, reads * kStepsOfRead); }

  // ---- what the command met
  // Whether the command looked at a key that this tick or its predecessor has changed or may have changed.
  bool saw_uncommitted() const { return saw_uncommitted_; }
  // Whether the command got kWouldWait because another transaction holds a key.
  bool met_lock() const { return met_lock_; }
  // The tagged row whose absence from memory caused kWouldWait; else empty.
  std::string TakeMissingRow() { return std::exchange(missing_row_, {}); }
  // Whether the kernel has begun to read that row, as it does after a refused read.
  bool is_missing_row_on_its_way() const { return is_missing_row_on_its_way_; }

  // ---- what INFO counts, once the command has finished
  // For keyspace_hits and keyspace_misses.
  void CountLookup(bool hit) { ++(hit ? hits_ : misses_); }
  // Counts a key that was deleted or replaced because it had expired.
  void CountExpired() { ++expired_; }
  // Counts the command's changes, for rdb_changes_since_last_save.
  void CountChanges(uint64_t changes) { changes_ += changes; }

  // ---- storage/ calls these
  // `reads`: whether look-ups are counted.
  void Begin(Lane lane, int64_t now_ms, bool reads) {
    lane_ = lane;
    now_ms_ = now_ms;
    reads_ = reads;
    steps_left_ = kFastLaneSteps;
    packed_elements_ = 0;
    memory_.Clear();
    stop_ = nullptr;
    saw_uncommitted_ = met_lock_ = false;
    missing_row_.clear();
    hits_ = misses_ = expired_ = changes_ = 0;
    refusal_ = {};
  }
  void NoteUncommitted() { saw_uncommitted_ = true; }
  // Returns kWouldWait, for a key that another transaction holds.
  Status MeetLock() {
    met_lock_ = true;
    return Status::WouldWait();
  }
  // Returns kWouldWait, for a row that is not in memory. `on_its_way`: a read of it was refused.
  Status MissRow(std::string_view tagged, bool on_its_way) {
    missing_row_ = tagged;
    is_missing_row_on_its_way_ = on_its_way;
    return Status::WouldWait();
  }
  // The writes or replicated commands cannot be stored. `error` is the client's error, a literal.
  void Refuse(std::string_view error) { refusal_ = error; }
  // The command must run again, on the slow lane.
  void NeedSlowLane() { refusal_ = kNeedsSlowLane; }
  uint64_t changes() const { return changes_; }
  // Rolls back to the state in which the command had made `changes` changes.
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

  // The most rows that a fast lane command may visit; about a millisecond (docs/decisions/run-again.md).
  static constexpr uint64_t kFastLaneSteps = 2048;

 private:
  // A block outside the block cache is copied from the page cache, verified and decompressed: about five microseconds.
  static constexpr uint64_t kStepsOfRead = 32;
  // A command may add 1,024 elements, the most that are packed (MostPackedBytes), one after the other on the fast lane.
  static constexpr uint64_t kElementsPerStep = 256;
  static constexpr std::string_view kNeedsSlowLane = "slow lane";

  Lane lane_ = Lane::kFast;
  bool reads_ = false;
  bool saw_uncommitted_ = false;
  bool met_lock_ = false;
  bool keeps_expired_ = false;
  bool only_peeks_ = false;
  int64_t now_ms_ = 0;
  uint64_t steps_left_ = 0;
  CommandMemory memory_;
  uint64_t packed_elements_ = 0;  // of walks that no step was taken for; below kElementsPerStep
  const bool* stop_ = nullptr;
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
  uint64_t expired_ = 0;
  uint64_t changes_ = 0;
  std::string_view refusal_;
  std::string missing_row_;
  bool is_missing_row_on_its_way_ = false;
};

}  // namespace cairn
