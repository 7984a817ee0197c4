// SPDX-License-Identifier: BSD-3-Clause
#include "storage/ranks.h"

#include <algorithm>
#include <iterator>

#include "encoding/varint.h"
#include "storage/rank_index.h"
#include "storage/store.h"
#include "storage/transaction.h"

namespace cairn {
namespace {

using Leaf = RankIndex::Leaf;
using Place = RankIndex::Place;

// A leaf of up to this many rows is made resident as a whole; a larger one is split first.
constexpr uint64_t kLoadRows = 2 * RankIndex::kMaxLeafRows;

// Rows read at once from the end of a large leaf. The slow lane reads more in advance, so that pops from one end wait
// for the disk only now and then, not at every leaf.
constexpr uint64_t kFastEndRows = 2 * RankIndex::kLeafRows;
constexpr uint64_t kSlowEndRows = 32 * RankIndex::kLeafRows;

// Refines one collection's index by reading its rows.
class Refiner {
 public:
  Refiner(Transaction& txn, RankIndex& index, Space space, CollectionId id, uint32_t stripe)
      : txn_(txn), index_(index), space_(space), id_(id), stripe_(stripe),
        end_rows_(txn.command().lane() == Lane::kSlow ? kSlowEndRows : kFastEndRows), bytes_before_(index.bytes()) {}

  // Charges the rows that were read, even if reading ended early.
  ~Refiner() {
    const auto grown = static_cast<int64_t>(index_.bytes()) - static_cast<int64_t>(bytes_before_);
    txn_.store().rank_indexes().Charge(grown, index_, &txn_);
  }

  // Makes the leaf with `rank` resident and returns its place.
  Result<Place> LoadRank(uint64_t rank) {
    for (;;) {
      const Place place = index_.FindRank(rank);
      const Leaf& leaf = index_.At(place);
      if (leaf.resident) return place;
      if (leaf.count <= WholeRows()) {
        TRY(Load(place));
      } else if (rank - place.before < end_rows_) {
        TRY(CutFront(place));
      } else if (place.before + leaf.count - rank <= end_rows_) {
        TRY(CutBack(place));
      } else {
        TRY(CutAll(place));
      }
    }
  }

  // The same for the leaf whose range contains `suffix`.
  Result<Place> LoadRow(std::string_view suffix) {
    bool tried_ends = false;
    for (;;) {
      const Place place = index_.FindRow(suffix);
      const Leaf& leaf = index_.At(place);
      if (leaf.resident) return place;
      if (leaf.count <= WholeRows()) {
        TRY(Load(place));
      } else if (!tried_ends) {
        tried_ends = true;
        TRY(CutFront(place));
        const Place after = index_.FindRow(suffix);
        if (!index_.At(after).resident && index_.At(after).count > WholeRows()) TRY(CutBack(after));
      } else {
        TRY(CutAll(place));
      }
    }
  }

 private:
  uint64_t WholeRows() const { return std::max(kLoadRows, end_rows_); }

  RowKey Bound(std::string_view suffix) const {
    RowKey row = MakeCollectionStart(space_, id_, stripe_);
    row.append(suffix);
    return row;
  }

  Cursor Rows(const Place& place, Direction direction) {
    const std::string* after = index_.BoundAfter(place);
    return txn_.Scan(Bound(index_.At(place).first),
                     after != nullptr ? Bound(*after) : MakeCollectionEnd(space_, id_, stripe_), direction);
  }

  // Reads up to `n` suffixes from the leaf's front (or from its back, in descending order).
  Result<std::vector<std::string>> Read(const Place& place, uint64_t n, Direction direction) {
    std::vector<std::string> rows;
    Cursor cursor = Rows(place, direction);
    for (; cursor.Valid() && rows.size() < n; cursor.Next()) rows.emplace_back(cursor.row().substr(8));
    TRY(cursor.TakeStatus());
    return rows;
  }

  // The index or the collection's own count is wrong. Breaks the index, so that the next user counts again.
  Status Disagree() {
    index_.Break();
    return Status::Corruption("spread collection: its count and its rows disagree");
  }

  // Appends resident leaves with `rows`; `bound` is the bound of the first.
  static void AppendResident(std::vector<Leaf>& leaves, const std::string& bound,
                             const std::vector<std::string>& rows) {
    for (size_t at = 0; at < rows.size(); at += RankIndex::kLeafRows) {
      const size_t end = std::min(rows.size(), at + RankIndex::kLeafRows);
      Leaf leaf{at == 0 ? bound : rows[at], end - at, true, {}};
      for (size_t row = at; row < end; ++row) leaf.rows.Append(rows[row]);
      leaf.rows.Shrink();
      leaves.push_back(std::move(leaf));
    }
  }

  Status Load(const Place& place) {
    const uint64_t count = index_.At(place).count;
    std::vector<std::string> rows = TRY(Read(place, count + 1, Direction::kForward));
    if (rows.size() != count) return Disagree();
    std::vector<Leaf> leaves;
    AppendResident(leaves, index_.At(place).first, rows);
    index_.Replace(place, std::move(leaves));
    return Ok();
  }

  Status CutFront(const Place& place) {
    std::vector<std::string> rows = TRY(Read(place, end_rows_ + 1, Direction::kForward));
    const Leaf& whole = index_.At(place);
    if (rows.size() <= end_rows_) return Disagree();
    Leaf rest{std::move(rows.back()), whole.count - end_rows_, false, {}};
    rows.pop_back();
    std::vector<Leaf> leaves;
    AppendResident(leaves, whole.first, rows);
    leaves.push_back(std::move(rest));
    index_.Replace(place, std::move(leaves));
    return Ok();
  }

  Status CutBack(const Place& place) {
    std::vector<std::string> rows = TRY(Read(place, end_rows_, Direction::kReverse));
    const Leaf& whole = index_.At(place);
    if (rows.size() < end_rows_ || whole.count <= rows.size()) return Disagree();
    std::reverse(rows.begin(), rows.end());
    std::vector<Leaf> leaves;
    leaves.push_back(Leaf{whole.first, whole.count - rows.size(), false, {}});
    AppendResident(leaves, rows.front(), rows);
    index_.Replace(place, std::move(leaves));
    return Ok();
  }

  // The leaves of a collection far beyond the memory would need too much of it, although no row is resident. So they
  // get more rows, and are cut again when they are asked for.
  uint64_t RowsOfLeaf(uint64_t count) const {
    constexpr size_t kLeafBytes = sizeof(Leaf) + 24;  // with a bound
    constexpr size_t kPart = 4;                       // of the capacity, as its divisor
    const uint64_t most_leaves = std::max<uint64_t>(txn_.store().rank_indexes().capacity() / kPart / kLeafBytes, 1);
    return std::max<uint64_t>(RankIndex::kLeafRows, count / most_leaves);
  }

  // Counts the whole leaf in one pass; afterwards every part of it is found in O(log n). As many rows as there is room
  // for stay resident.
  Status CutAll(const Place& place) {
    const uint64_t leaf_rows = RowsOfLeaf(index_.At(place).count);
    size_t room = leaf_rows == RankIndex::kLeafRows ? txn_.store().rank_indexes().room() : 0;
    std::vector<Leaf> leaves;
    leaves.push_back(Leaf{index_.At(place).first, 0, room > 0, {}});
    uint64_t count = 0;
    Cursor cursor = Rows(place, Direction::kForward);
    for (; cursor.Valid(); cursor.Next(), ++count) {
      const std::string_view row = cursor.row().substr(8);
      if (leaves.back().count == leaf_rows) {
        leaves.back().rows.Shrink();
        room -= std::min(room, leaves.back().rows.bytes() + sizeof(Leaf));
        leaves.push_back(Leaf{std::string(row), 0, room > 0, {}});
      }
      ++leaves.back().count;
      if (leaves.back().resident) leaves.back().rows.Append(row);
    }
    TRY(cursor.TakeStatus());
    if (count != index_.At(place).count) return Disagree();
    index_.Replace(place, std::move(leaves));
    return Ok();
  }

  Transaction& txn_;
  RankIndex& index_;
  const Space space_;
  const CollectionId id_;
  const uint32_t stripe_;
  const uint64_t end_rows_;
  const size_t bytes_before_;
};

Result<RankIndex*> Open(Transaction& txn, Space space, CollectionId id, uint64_t total, uint32_t stripe) {
  const uint32_t stripes[] = {stripe};
  TRY(txn.Lock(stripes));
  RankIndexes& indexes = txn.store().rank_indexes();
  RankIndex* index = indexes.Find(stripe, space, id);
  if (index != nullptr && index->count() != total) {
    indexes.Drop(stripe, id);
    index = nullptr;
  }
  if (index != nullptr) return index;
  txn.ranks().NoteMade(id, stripe);
  return &indexes.Create(stripe, space, id, total);
}

}  // namespace

Result<std::string> Ranks::At(uint64_t rank) {
  RankIndex* index = TRY(Open(txn_, space_, id_, total_, stripe_));
  Refiner refiner(txn_, *index, space_, id_, stripe_);
  const Place place = TRY(refiner.LoadRank(rank));
  return std::string(index->At(place).rows[rank - place.before]);
}

Result<std::vector<std::string>> Ranks::Take(uint64_t rank, uint64_t n) {
  RankIndex* index = TRY(Open(txn_, space_, id_, total_, stripe_));
  std::vector<std::string> taken;
  while (taken.size() < n && rank < total_) {
    TRY(txn_.command().Spend(1));
    Refiner refiner(txn_, *index, space_, id_, stripe_);
    const Place place = TRY(refiner.LoadRank(rank));
    index->At(place).rows.VisitFrom(rank - place.before, [&](std::string_view row) {
      taken.emplace_back(row);
      ++rank;
      return taken.size() < n;
    });
  }
  return taken;
}

Result<uint64_t> Ranks::RankOf(std::string_view suffix) {
  RankIndex* index = TRY(Open(txn_, space_, id_, total_, stripe_));
  Refiner refiner(txn_, *index, space_, id_, stripe_);
  const Place place = TRY(refiner.LoadRow(suffix));
  return place.before + index->At(place).rows.LowerBound(suffix);
}

}  // namespace cairn
