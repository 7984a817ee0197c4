// SPDX-License-Identifier: BSD-3-Clause
//
// Overlay: the rows that a tick has written and not committed yet, by row key. Only the last value of a row is kept,
// so a tick is cheaper than the sum of its commands.
//
// Values stay in an arena until Clear(), so a view of one is valid for the whole tick, even after the row is written
// again. Mark() and RollbackTo() undo the writes of a command that fails. The commit moves the large values into its
// batch (MoveValue).
//
// Thread: that of its transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "encoding/row_key.h"

namespace cairn {

// A value of this size or more is large: it is written by the slow lane, and moved rather than copied.
inline constexpr size_t kLargeValueBytes = 1 << 20;

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

  // The memory of a written row, besides its key and value: its Entry, its Undo, and its part of the table.
  static constexpr size_t kEntryBytes = 96;

  bool empty() const { return entries_.empty(); }
  size_t bytes() const { return arena_bytes_; }  // bytes allocated from the arena since Clear()
  static uint64_t HashOf(std::string_view tagged);

  // Null if the tick has not written the row.
  const Entry* Find(std::string_view tagged, uint64_t hash) const;
  // The value is `value` followed by `rest`.
  void Write(const RowKey& row, uint64_t hash, State state, std::string_view value, std::string_view rest = {});

  size_t Mark() const { return undo_.size(); }
  void RollbackTo(size_t mark);
  void ForgetMarks() { undo_.clear(); }

  // In the order in which rows were first written; callers skip entries in state kNothing.
  const std::vector<Entry>& entries() const { return entries_; }
  // Calls visit(entry) for the entries from `lower` (a tagged row) to below `upper`, in any order.
  template <typename Visit>
  void VisitRange(std::string_view lower, std::string_view upper, Visit visit) const {
    if (entries_.size() <= kFewEntries) {
      for (const Entry& entry : entries_) {
        if (entry.tagged >= lower && entry.tagged < upper) visit(entry);
      }
      return;
    }
    for (; sorted_.size() < entries_.size();) sorted_.emplace(entries_[sorted_.size()].tagged, sorted_.size());
    for (auto at = sorted_.lower_bound(lower); at != sorted_.end() && at->first < upper; ++at) {
      visit(entries_[at->second]);
    }
  }
  // The entry's value is at another place from now on, which outlives the tick. Views of the old place stay valid.
  void MoveValue(size_t entry, std::string_view place) { entries_[entry].value = place; }
  void Clear();

 private:
  struct Undo {
    uint32_t entry;
    State state;
    std::string_view value;
  };
  static constexpr uint32_t kEmpty = ~0u;
  static constexpr size_t kFewEntries = 256;  // a cursor looks at all of them

  Entry* FindMutable(std::string_view tagged, uint64_t hash);
  void GrowTable();
  std::string_view Copy(std::string_view bytes, std::string_view rest = {});

  std::vector<Entry> entries_;
  std::vector<uint32_t> table_;  // open addressing, linear probing; a power of two in size
  std::vector<Undo> undo_;
  // The entries by their rows, extended when a cursor needs it. Thread: that of its transaction or of its successor.
  mutable absl::btree_map<std::string_view, size_t> sorted_;
  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };
  std::vector<Block> blocks_;
  size_t block_used_ = 0;
  size_t arena_bytes_ = 0;
};

}  // namespace cairn
