// SPDX-License-Identifier: BSD-3-Clause
//
// ReplicatedCommands: what a transaction's commands have done, as the words of commands, for the log data of its batch
// (encoding/log_entry.h). Replicas carry them out. Several effects of one command are carried out as one.
//
// Thread: its transaction's.
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

// An expired key that is not deleted yet. `row` is its row without the tag.
struct StaleKey {
  std::string row;
  bool missed;
  size_t place = 0;  // the size of the effects when the command met it
  int db = -1;       // the database that had it then; -1: none
};

class ReplicatedCommands {
 public:
  // `stripes` and `command` are those of the transaction.
  ReplicatedCommands(const HeldStripes& stripes, CommandState& command) : stripes_(stripes), command_(command) {}

  // ---- of the command
  // What others want to hear of it (storage/interest.h), as it was when the command got its stripes; without
  // kInterestInReplication while effects are muted or silenced.
  InterestMask interest() const { return is_muted_ || is_silenced_ ? interest_ & ~kInterestInReplication : interest_; }
  // The command has done this in database `db`. An effect that is too large for the log is left out, and the command is
  // refused (CommandState::TakeRefusal).
  // REQUIRES: interest() has kInterestInReplication.
  void Add(int db, std::span<const std::string_view> argv);
  // A part of the command has no effects (redis.set_repl): interest() leaves them out.
  void Silence(bool on) { is_silenced_ = on; }
  // Replicas carry out each effect of the command by itself, not all as one.
  void SetApart() { is_apart_ = true; }
  // A look-up met an expired key in database `db`. `missed`: subscribers get a keymiss event for it.
  void NoteStaleKey(std::string_view key_row, int db, bool missed) {
    stale_keys_.push_back({std::string(key_row), missed, bytes_.size(), db});
  }
  // The command has deleted or replaced an expired key: replicas get the deletion even if the command has no other
  // effects.
  void TellStaleKeys() { tells_stale_keys_ = true; }
  std::vector<StaleKey> TakeStaleKeys() { return std::exchange(stale_keys_, {}); }

  // ---- of the transaction
  // A piece of the primary's stream, which the transaction has carried out.
  void AddStream(std::string_view bytes);
  // While muted, commands have no effects: the primary's stream, which they come from, is logged instead (AddStream).
  void Mute(bool on) { is_muted_ = on; }
  bool is_muted() const { return is_muted_; }
  bool empty() const { return bytes_.empty(); }
  std::string_view bytes() const { return bytes_; }
  void Clear();

  // ---- storage/transaction.cc calls these
  void BeginCommand(InterestMask interest);
  void SetInterest(InterestMask interest) { interest_ = interest; }
  // Adds the deletions of expired keys and groups the command's effects.
  void FinishCommand();
  void DropCommand() { RollbackTo({command_begin_, 0}); }
  struct Mark {
    size_t bytes;
    size_t count;  // of effects of the command
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
  // Of the command:
  InterestMask interest_ = 0;
  bool is_silenced_ = false;
  bool is_apart_ = false;
  bool tells_stale_keys_ = false;
  size_t command_begin_ = 0;  // in bytes_
  size_t count_ = 0;
  std::vector<StaleKey> stale_keys_;
};

}  // namespace cairn
