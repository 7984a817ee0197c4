// SPDX-License-Identifier: BSD-3-Clause
//
// SpreadZset: a sorted set with rows of its own (docs/format.md, sections 2 and 4).
//
//   element row   id hash member   ->  the score, as packed scores are written
//   score row     id score member  ->  nothing
//
// Score rows in row order are the set in its order, so an interval of scores is an interval of rows
// and a rank is a place in the rank index (storage/ranks.h), which counts score rows only. Element
// rows are never counted: whoever wants a random element takes the score row of a random rank.
//
// A set whose first or last elements are popped again and again leaves deleted rows at its ends, which a cursor would
// have to step over. So walks never start at a bound somebody named but at a row that exists: the rank index keeps
// the rows of both ends in memory and tells the first and the last one.
//
// -0.0 is a score that equals 0.0 and is shown as "-0" (in a spread set; a packed one stores 0, as
// Redis's small encoding does). Score rows cannot tell the two apart. The record notes once that a
// -0.0 was stored; only in such a set is a zero looked up in the element row.
//
// Thread: the transaction's. Not here: the record, which is Zset's (types/zset.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "base/result.h"
#include "encoding/record.h"
#include "encoding/row_key.h"
#include "storage/cursor.h"
#include "storage/ranks.h"
#include "storage/transaction.h"
#include "types/score_range.h"

namespace cairn {

// Called for one element after another; false ends the walk, as does an error. The member's bytes
// are good during the call.
using ScoredVisitor = absl::FunctionRef<Result<bool>(std::string_view member, double score)>;

class SpreadZset {
 public:
  // The score rows [lower, upper) of an interval, cut to what exists.
  struct Span {
    RowKey lower;
    RowKey upper;
    bool empty = true;
    bool whole = false;  // no element is outside
  };

  // A new one, without elements.
  SpreadZset(Transaction& txn, uint32_t stripe)
      : txn_(&txn), stripe_(stripe), id_(txn.NewCollectionId()), ranked_(false) {}
  static Result<SpreadZset> Open(Transaction& txn, uint32_t stripe, std::string_view payload);

  CollectionId id() const { return id_; }
  uint64_t count() const { return count_; }
  // The record's payload, as of now.
  std::string Payload() const;

  Result<std::optional<double>> Score(std::string_view member);
  // REQUIRES: the member is not there.
  void Insert(std::string_view member, double score);
  // REQUIRES: the member is there with that score.
  void Erase(std::string_view member, double score);
  void Rescore(std::string_view member, double old_score, double score);

  // How many elements sort before the one given. REQUIRES: it is there.
  Result<uint64_t> RankOf(std::string_view member, double score);

  Result<Span> Find(const ScoreRange& range);
  Result<Span> Find(const LexRange& range);
  Result<uint64_t> Count(const Span& span);

  // Visits what is left of the span after skipping `offset` elements, `limit` at most.
  Status ForEach(const Span& span, bool reverse, uint64_t offset, uint64_t limit, ScoredVisitor visit);
  // Visits the `n` elements from rank `first` on, the last of them first when `reverse`.
  // REQUIRES: first + n <= count().
  Status ForEachRank(uint64_t first, uint64_t n, bool reverse, ScoredVisitor visit);
  // Visits all elements. Of a snapshot too, unlike all else that goes by rank or score.
  Status ForEach(ScoredVisitor visit, bool reverse);
  // Visits at least `n` elements in hash order from `position` on, where there are so many. Returns
  // the position to go on from, 0 at the end. Elements that share a position are visited together.
  Result<uint64_t> Scan(uint64_t position, uint64_t n, ScoredVisitor visit);

 private:
  SpreadZset(Transaction& txn, uint32_t stripe, CollectionId id, uint64_t count, bool negative_zero)
      : txn_(&txn), stripe_(stripe), id_(id), count_(count), negative_zero_(negative_zero) {}

  Ranks ScoreRanks() {
    ranked_ = true;
    return Ranks(*txn_, Space::kScores, id_, count_, stripe_);
  }
  RowKey ScoreRow(std::string_view suffix) const;
  RowKey ScoreBound(double score, bool after) const;
  Result<Span> Cut(RowKey lower, RowKey upper, std::string_view first, std::string_view last);
  Result<bool> VisitRow(std::string_view row, ScoredVisitor visit);
  Status ForEachOf(Cursor cursor, uint64_t offset, uint64_t limit, ScoredVisitor visit);
  void PutElement(std::string_view member, double score);

  Transaction* txn_;
  uint32_t stripe_;
  CollectionId id_;
  uint64_t count_ = 0;
  bool ranked_ = true;          // there may be a rank index; false: new, nobody has asked for ranks
  bool negative_zero_ = false;  // a score of -0.0 was stored once
};

}  // namespace cairn
