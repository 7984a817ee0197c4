// SPDX-License-Identifier: BSD-3-Clause
//
// Overlay: the rows a tick has written and not yet committed, by row key. Writing a row twice keeps the last
// value only, which is what makes a tick cheaper than the sum of its commands.
//
// Values live in an arena until Clear(), so a view of one stays good for the tick even after the row is
// written again. Mark() and RollbackTo() take back the writes of a command that must not count.
//
// Thread: that of the transaction that owns it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "encoding/row_key.h"

namespace cairn {

class Overlay {
 public:
  enum class State : uint8_t { kNothing, kPut, kDeleted };  // kNothing: rolled back

  struct Entry {
    uint64_t hash;
    std::string_view tagged;  // space byte and row
    std::string_view value;
    uint32_t stripe;
    State state;

    Space space() const { return static_cast<Space>(tagged[0]); }
    std::string_view row() const { return tagged.substr(1); }
  };

  bool empty() const { return entries_.empty(); }
  size_t bytes() const { return arena_bytes_; }  // what the arena handed out since Clear()
  static uint64_t HashOf(std::string_view tagged);

  // Null when the tick has not written the row.
  const Entry* Find(std::string_view tagged, uint64_t hash) const;
  void Write(const RowKey& row, uint64_t hash, State state, std::string_view value);

  size_t Mark() const { return undo_.size(); }
  void RollbackTo(size_t mark);
  void ForgetMarks() { undo_.clear(); }

  // In the order the rows were first written; entries in state kNothing are to be skipped.
  const std::vector<Entry>& entries() const { return entries_; }
  void Clear();

 private:
  struct Undo {
    uint32_t entry;
    State state;
    std::string_view value;
  };
  static constexpr uint32_t kEmpty = ~0u;

  Entry* FindMutable(std::string_view tagged, uint64_t hash);
  void GrowTable();
  std::string_view Copy(std::string_view bytes);

  std::vector<Entry> entries_;
  std::vector<uint32_t> table_;  // open addressing, linear probing; a power of two in size
  std::vector<Undo> undo_;
  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };
  std::vector<Block> blocks_;
  size_t block_used_ = 0;
  size_t arena_bytes_ = 0;
};

}  // namespace cairn
