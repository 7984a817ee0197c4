// SPDX-License-Identifier: BSD-3-Clause
//
// ReplicatedCommands: the commands that replicas must run to repeat a transaction. They go into the log data of its
// batch (encoding/log_entry.h). A replica runs several commands that replicate one command as one unit.
//
// Thread: that of its transaction.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/command_state.h"
#include "storage/held_stripes.h"
#include "storage/interest.h"

namespace cairn {

// An expired key that is not deleted yet. `row` is its row key without the tag.
struct StaleKey {
  std::string row;
  bool missed;
  size_t place = 0;  // size of the replicated commands when the command met the key
  int db = -1;       // the key's database at that time; -1: none
};

class ReplicatedCommands {
 public:
  // `stripes` and `command` belong to the transaction.
  ReplicatedCommands(const HeldStripes& stripes, CommandState& command) : stripes_(stripes), command_(command) {}

  // ---- of the current command
  // The interest in its changes (storage/interest.h) at the time when the command got its stripes or called
  // SetInterest; without kInterestInReplication while muted or silenced.
  InterestMask interest() const { return is_muted_ || is_silenced_ ? interest_ & ~kInterestInReplication : interest_; }
  // Sets the interest for the rest of the command: CLIENT TRACKING may be part of a transaction.
  void SetInterest(InterestMask interest) { interest_ = interest; }
  // Replicates a command in database `db`. A command that is too large for the log is left out, and the current
  // command is refused (CommandState::TakeRefusal).
  // REQUIRES: interest() has kInterestInReplication.
  void Add(int db, std::span<const std::string_view> argv);
  // A part of the command is not replicated (redis.set_repl): interest() then says so.
  void Silence(bool on) { is_silenced_ = on; }
  // Replicas run each replicated command separately, not all as one unit.
  void SetApart() { is_apart_ = true; }
  // A look-up met an expired key in database `db`. `missed`: subscribers get a keymiss event for it.
  void NoteStaleKey(std::string_view key_row, int db, bool missed) {
    stale_keys_.push_back({std::string(key_row), missed, bytes_.size(), db});
  }
  // The command has deleted or replaced an expired key: its deletion is replicated even if nothing else is.
  void ReplicateStaleKeys() { replicates_stale_keys_ = true; }
  std::vector<StaleKey> TakeStaleKeys() { return std::exchange(stale_keys_, {}); }

  // ---- of the transaction
  // Adds a piece of the primary's stream that the transaction has executed.
  void AddStream(std::string_view bytes);
  // While muted, nothing is replicated: the commands come from the primary's stream, which is logged instead
  // (AddStream).
  void Mute(bool on) { is_muted_ = on; }
  bool is_muted() const { return is_muted_; }
  bool empty() const { return bytes_.empty(); }
  std::string_view bytes() const { return bytes_; }
  void Clear();

  // ---- storage/transaction.cc calls these
  void BeginCommand(InterestMask interest);
  // Adds the deletions of expired keys and groups what the command has replicated.
  void FinishCommand();
  void DropCommand() { RollbackTo({command_begin_, 0}); }
  struct Mark {
    size_t bytes;
    size_t count;  // of commands replicated by the current command
  };
  Mark mark() const { return {bytes_.size(), count_}; }
  void RollbackTo(const Mark& mark);

 private:
  void PutStaleKeys();
  void Group();

  const HeldStripes& stripes_;
  CommandState& command_;
  std::string bytes_;  // log entries
  bool is_muted_ = false;
  // State of the current command:
  InterestMask interest_ = 0;
  bool is_silenced_ = false;
  bool is_apart_ = false;
  bool replicates_stale_keys_ = false;
  size_t command_begin_ = 0;  // offset in bytes_
  size_t count_ = 0;
  std::vector<StaleKey> stale_keys_;
};

}  // namespace cairn
