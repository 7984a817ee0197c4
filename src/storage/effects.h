// SPDX-License-Identifier: BSD-3-Clause
//
// Effects: what a transaction's commands have done, as the words of commands, for the log data of its batch
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

#include "storage/held_stripes.h"
#include "storage/interest.h"

namespace cairn {

// A key that is there although its time has passed. `row` is its row without the tag.
struct StaleKey {
  std::string row;
  bool missed;
  size_t place = 0;  // the bytes of effects before it was met
  int db = -1;       // then; -1: none has it
};

class Effects {
 public:
  // `stripes` are those of the transaction.
  explicit Effects(const HeldStripes& stripes) : stripes_(stripes) {}

  // ---- of the command
  // What the command has done in database `db`. What is too large for the log is left out, and too_large() says so.
  // REQUIRES: somebody is interested (kInterestInEffects).
  void Add(int db, std::span<const std::string_view> argv);
  // For a part of the command: what it does has no effects to tell (redis.set_repl).
  void Silence(bool on) { is_silenced_ = on; }
  // The effects of the command are told each by itself.
  void SetApart() { is_apart_ = true; }
  // A look-up met a key past its time in database `db`. `missed` says that it is told of as one that a read did not
  // find.
  void NoteStaleKey(std::string_view key_row, int db, bool missed) {
    stale_keys_.push_back({std::string(key_row), missed, bytes_.size(), db});
  }
  // The command has deleted or replaced such a key: that is told even if it has no effects of its own to tell.
  void TellStaleKeys() { tells_stale_keys_ = true; }
  std::vector<StaleKey> TakeStaleKeys() { return std::exchange(stale_keys_, {}); }

  // ---- of the transaction
  // A piece of the stream that this server follows, which the transaction has carried out.
  void AddStream(std::string_view bytes);
  // While muted, commands have no effects of their own to tell: the stream that they are of is told.
  void Mute(bool on) { is_muted_ = on; }
  bool is_muted() const { return is_muted_; }
  // `interest` without that in effects while none are to be told.
  InterestMask Of(InterestMask interest) const {
    return is_muted_ || is_silenced_ ? interest & ~kInterestInEffects : interest;
  }
  bool empty() const { return bytes_.empty(); }
  std::string_view bytes() const { return bytes_; }
  void Clear();

  // ---- storage/transaction.cc calls these
  void BeginCommand();
  // Puts the command's effects in their final form. `interest` is what was wanted when it got its stripes.
  void FinishCommand(InterestMask interest);
  void DropCommand() { RollbackTo({command_begin_, 0}); }
  struct Mark {
    size_t bytes;
    size_t count;  // of effects of the command
  };
  Mark mark() const { return {bytes_.size(), count_}; }
  void RollbackTo(const Mark& mark);
  bool too_large() const { return too_large_; }

 private:
  void PutStaleKeys(InterestMask interest);
  void Group();

  const HeldStripes& stripes_;
  std::string bytes_;  // log entries
  bool is_muted_ = false;
  // Of the command:
  bool is_silenced_ = false;
  bool is_apart_ = false;
  bool tells_stale_keys_ = false;
  bool too_large_ = false;
  size_t command_begin_ = 0;  // in bytes_
  size_t count_ = 0;
  std::vector<StaleKey> stale_keys_;
};

}  // namespace cairn
