// SPDX-License-Identifier: BSD-3-Clause
//
// RankChanges: updates the rank indexes of collections with the rows that a transaction adds and removes, and undoes
// the updates when the rows are rolled back. An index is changed at once, under the stripe of its collection, so only
// the transaction that holds the stripe sees it.
//
// Thread: that of its transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "encoding/row_key.h"
#include "storage/held_stripes.h"
#include "storage/overlay.h"
#include "storage/rank_index.h"

namespace cairn {

class RankChanges {
 public:
  // The most changes that one command can undo, at about 130 bytes each. If a command with more is dropped, the
  // changed indexes are dropped too.
  static constexpr size_t kMostChanges = 1 << 12;

  // `rows` are the writes of `owner`. All outlive this object.
  RankChanges(RankIndexes& indexes, const Overlay& rows, const Transaction* owner)
      : indexes_(indexes), rows_(rows), owner_(owner) {}

  // A row of a collection was added or removed. No effect without an index. REQUIRES: the row's stripe is held.
  void RowAdded(const RowKey& row) { Note(row, 1); }
  void RowRemoved(const RowKey& row) { Note(row, -1); }
  // The same for a row that counts once per item: its count grows by `change`, which may be negative.
  void RowCountChanged(const RowKey& row, int64_t change) { Note(row, change); }
  // A rank index of the collection was made from the command's view. The index is dropped if rows that the command had
  // written before are rolled back. REQUIRES: the stripe is held.
  void NoteMade(CollectionId id, uint32_t stripe);
  // Drops the rank indexes of a collection that is being deleted. REQUIRES: the stripe is held.
  void Drop(CollectionId id, uint32_t stripe) { indexes_.Drop(stripe, id); }

  // ---- storage/transaction.cc calls these
  void BeginCommand();
  size_t size() const { return changes_.size(); }
  // Restores the indexes to their state at a mark of the overlay, when there were `size` changes.
  void RollbackTo(size_t mark, size_t size);
  // Drops all indexes of these stripes: they contain changes that will not be committed.
  void DropAll(const HeldStripes& stripes);
  void Clear();

 private:
  struct Change {
    RowKey row;
    int64_t change;
  };
  // An index that cannot be restored to its state at a mark of the overlay below `since`.
  struct Made {
    uint32_t stripe = 0;
    size_t since = 0;
  };

  static CollectionId CollectionOf(const RowKey& row);
  RankIndex* IndexOf(const RowKey& row);
  // Returns how many bytes the index has grown.
  static int64_t Apply(RankIndex& index, const RowKey& row, int64_t change);
  void Note(const RowKey& row, int64_t change);
  void NoteMadeSince(CollectionId id, uint32_t stripe, size_t since);

  RankIndexes& indexes_;
  const Overlay& rows_;
  const Transaction* const owner_;
  std::vector<Change> changes_;  // of the current command, as made_
  std::map<CollectionId, Made> made_;
};

}  // namespace cairn
