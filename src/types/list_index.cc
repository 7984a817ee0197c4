// SPDX-License-Identifier: BSD-3-Clause
#include "types/list_index.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "storage/rank_index.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr size_t kIdBytes = 8;
constexpr uint64_t kLeafItems = 512;  // the minimum when a larger leaf is split
constexpr uint64_t kMostLeafItems = 4 * kLeafItems;

std::string SuffixOf(const ListRows& rows, int64_t seq) { return std::string(rows.Row(seq).row().substr(kIdBytes)); }

// The number of a leaf's first chunk. Chunks before the list's first one were deleted.
Result<int64_t> FirstSeq(const ListRows& rows, const std::string& suffix) {
  if (suffix.empty()) return rows.first;
  std::string row(rows.Row(0).row().substr(0, kIdBytes));
  row.append(suffix);
  CollectionId id;
  int64_t seq;
  if (!ParseChunkRow(row, id, seq)) return Status::Corruption("list index: malformed bound");
  return std::max(seq, rows.first);
}

// Splits a leaf that has become too large by counting its chunks. Returns false if the leaf's count is wrong.
Result<bool> Cut(Transaction& txn, const ListRows& rows, RankIndex& index, const RankIndex::Place& place) {
  const RankIndex::Leaf& whole = index.At(place);
  const std::string* const bound = index.BoundAfter(place);
  const int64_t end = bound != nullptr ? TRY(FirstSeq(rows, *bound)) : INT64_MAX;
  std::vector<RankIndex::Leaf> leaves;
  leaves.push_back({.first = whole.first, .count = 0, .resident = false, .rows = {}});
  uint64_t items = 0;
  ChunkWalk walk(txn, rows, TRY(FirstSeq(rows, whole.first)), Direction::kForward);
  for (; walk.Valid() && walk.chunk().seq < end; walk.Next()) {
    if (leaves.back().count >= kLeafItems) {
      leaves.push_back({.first = SuffixOf(rows, walk.chunk().seq), .count = 0, .resident = false, .rows = {}});
    }
    leaves.back().count += walk.chunk().count;
    items += walk.chunk().count;
  }
  TRY(walk.TakeStatus());
  if (items != whole.count) return false;
  const auto bytes = static_cast<int64_t>(index.bytes());
  index.Replace(place, std::move(leaves));
  txn.store().rank_indexes().Charge(static_cast<int64_t>(index.bytes()) - bytes, index, &txn);
  return true;
}

// Asks the list's index. Returns none if the first chunk to read was deleted or the counts disagree with the chunks.
Result<std::optional<IndexedChunk>> Ask(Transaction& txn, const ListRows& rows, RankIndex& index, uint64_t item) {
  RankIndex::Place place = index.FindRank(item);
  if (index.At(place).count > kMostLeafItems) {
    if (!TRY(Cut(txn, rows, index, place))) return std::optional<IndexedChunk>();
    place = index.FindRank(item);
  }
  const int64_t seq = TRY(FirstSeq(rows, index.At(place).first));
  const RowRef chunk = TRY(txn.Get(rows.Row(seq)));
  if (!chunk) return std::optional<IndexedChunk>();
  return std::optional(IndexedChunk{seq, place.before});
}

}  // namespace

Result<std::optional<IndexedChunk>> FindIndexed(Transaction& txn, const ListRows& rows, uint64_t index,
                                                uint64_t total) {
  const uint32_t stripes[] = {rows.stripe};
  TRY(txn.Lock(stripes));
  RankIndexes& indexes = txn.store().rank_indexes();
  RankIndex* counted = indexes.Find(rows.stripe, Space::kElements, rows.id);
  if (counted != nullptr && counted->count() != total) {
    indexes.Drop(rows.stripe, rows.id);
    counted = nullptr;
  }
  if (counted == nullptr) {
    txn.ranks().NoteMade(rows.id, rows.stripe);
    counted = &indexes.Create(rows.stripe, Space::kElements, rows.id, total, RankIndex::Weights::kMany);
  }
  const std::optional<IndexedChunk> found = TRY(Ask(txn, rows, *counted, index));
  if (!found) indexes.Drop(rows.stripe, rows.id);
  return found;
}

void CountItems(Transaction& txn, const ListRows& rows, int64_t seq, int64_t change) {
  if (change == 0) return;
  if (txn.store().rank_indexes().Find(rows.stripe, Space::kElements, rows.id) == nullptr) return;
  txn.ranks().RowCountChanged(rows.Row(seq), change);
}

}  // namespace cairn
