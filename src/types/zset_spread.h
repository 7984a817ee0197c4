// SPDX-License-Identifier: BSD-3-Clause
//
// SpreadZset: a sorted set with its own rows (docs/format.md, sections 2 and 4).
//
//   element row   id hash member   ->  the score, as packed scores are written
//   score row     id score member  ->  nothing
//
// The order of score rows is the order of the set, so an interval of scores is an interval of rows. A rank is a
// position in the rank index (storage/ranks.h), which counts score rows only. Element rows are never counted: a random
// element is the score row at a random rank.
//
// Popping at an end leaves deleted rows there, which a cursor would have to step over. So a walk never starts at a
// bound that the caller gave but at an existing row: the rank index keeps the first and the last rows in memory.
//
// -0.0 is a score that equals 0.0 and is shown as "-0" (in a spread set; a packed one stores 0, as Redis's small
// encoding does). Score rows cannot tell the two apart. The record has a flag that a -0.0 was ever stored; only with
// that flag is a zero looked up in the element row.
//
// Thread: that of the transaction. Not here: the record, which Zset maintains (types/zset.h).
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

// Called once per element. A false result, or an error, ends the walk. The member's bytes are valid during the call.
using ScoredVisitor = absl::FunctionRef<Result<bool>(std::string_view member, double score)>;

class SpreadZset {
 public:
  // The score rows [lower, upper) of an interval, clipped to existing rows.
  struct Span {
    RowKey lower;
    RowKey upper;
    bool empty = true;
    bool whole = false;  // the span covers all elements
  };

  // Makes a new set without elements.
  SpreadZset(Transaction& txn, KeyspaceId keyspace, uint32_t stripe)
      : txn_(&txn), stripe_(stripe), id_(txn.NewCollectionId(keyspace)), ranked_(false) {}
  static Result<SpreadZset> Open(Transaction& txn, uint32_t stripe, std::string_view payload);

  CollectionId id() const { return id_; }
  uint64_t count() const { return count_; }
  // The current payload of the record.
  std::string Payload() const;

  Result<std::optional<double>> Score(std::string_view member);
  // REQUIRES: the member does not exist.
  void Insert(std::string_view member, double score);
  // REQUIRES: the member exists with this score.
  void Erase(std::string_view member, double score);
  void Rescore(std::string_view member, double old_score, double score);

  // The number of elements that sort before this one. REQUIRES: it exists.
  Result<uint64_t> RankOf(std::string_view member, double score);

  Result<Span> Find(const ScoreRange& range);
  Result<Span> Find(const LexRange& range);
  Result<uint64_t> Count(const Span& span);

  // Skips `offset` elements of the span, then visits up to `limit`.
  Status ForEach(const Span& span, bool reverse, uint64_t offset, uint64_t limit, ScoredVisitor visit);
  // Visits the `n` elements from rank `first` on, the last of them first if `reverse`. REQUIRES: first + n <= count().
  Status ForEachRank(uint64_t first, uint64_t n, bool reverse, ScoredVisitor visit);
  // Visits all elements. Works on a snapshot too, unlike the other functions that use rank or score.
  Status ForEach(ScoredVisitor visit, bool reverse);
  // Visits at least `n` elements (if so many are left) in hash order from `position` on. Returns the position to
  // continue from, 0 at the end. Elements that share a position are visited together.
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
  bool ranked_ = true;          // false: a new set without a rank index
  bool negative_zero_ = false;  // a score of -0.0 was stored at least once
};

}  // namespace cairn
