// SPDX-License-Identifier: BSD-3-Clause
//
// RankChanges: tells the rank indexes of collections which rows a transaction adds and removes, and takes that back
// with the rows. An index is changed at once, under the stripe of its collection, so only the transaction that holds
// the stripe sees it.
//
// Thread: its transaction's.
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
  // So many changes a command can take back, of some 130 bytes each. When one that makes more is abandoned, the indexes
  // go.
  static constexpr size_t kMostChanges = 1 << 12;

  // `rows` are what `owner` has written. All outlive it.
  RankChanges(RankIndexes& indexes, const Overlay& rows, const Transaction* owner)
      : indexes_(indexes), rows_(rows), owner_(owner) {}

  // A row of a collection came or went; does nothing when the collection has no index. REQUIRES: the row's stripe is
  // held.
  void RowAdded(const RowKey& row) { Note(row, 1); }
  void RowRemoved(const RowKey& row) { Note(row, -1); }
  // The same of a row that counts as often as it has items: it has so many more, or fewer.
  void RowCountChanged(const RowKey& row, int64_t change) { Note(row, change); }
  // A rank index of the collection was made from what the command sees. It goes when rows are rolled back that the
  // command had written by then. REQUIRES: the stripe is held.
  void NoteMade(CollectionId id, uint32_t stripe);
  // Forgets the rank indexes of a collection that is going away. REQUIRES: the stripe is held.
  void Drop(CollectionId id, uint32_t stripe) { indexes_.Drop(stripe, id); }

  // ---- storage/transaction.cc calls these
  void BeginCommand();
  size_t size() const { return changes_.size(); }
  // Makes the indexes what they were at a mark of the overlay, with so many changes.
  void RollbackTo(size_t mark, size_t size);
  // Drops all indexes of these stripes: they have changes that will not be committed.
  void DropAll(const HeldStripes& stripes);
  void Clear();

 private:
  struct Change {
    RowKey row;
    int64_t change;
  };
  // An index that cannot be made what it was at a mark of the overlay below `since`.
  struct Made {
    uint32_t stripe = 0;
    size_t since = 0;
  };

  static CollectionId CollectionOf(const RowKey& row);
  RankIndex* IndexOf(const RowKey& row);
  static void Apply(RankIndex& index, const RowKey& row, int64_t change);
  void Note(const RowKey& row, int64_t change);
  void NoteMadeSince(CollectionId id, uint32_t stripe, size_t since);

  RankIndexes& indexes_;
  const Overlay& rows_;
  const Transaction* const owner_;
  std::vector<Change> changes_;  // of the command, as made_
  std::map<CollectionId, Made> made_;
};

}  // namespace cairn
