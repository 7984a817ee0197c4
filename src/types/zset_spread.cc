// SPDX-License-Identifier: BSD-3-Clause
#include "types/zset_spread.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "encoding/packed.h"

namespace cairn {
namespace {

constexpr size_t kIdBytes = 8;            // in a row key, before its suffix
constexpr char kNegativeZero = 1;         // the last byte of the payload of a set that had a -0.0
constexpr uint64_t kSkipByWalking = 64;   // a larger offset is found by rank
constexpr uint64_t kTakeFromRanks = 128;  // up to this many elements are copied from the rank index instead of read

Status BadRow() { return Status::Corruption("spread zset: a row is cut short"); }

// The smallest row key after `row`.
RowKey After(RowKey row) {
  row.push_back('\0');
  return row;
}

}  // namespace

Result<SpreadZset> SpreadZset::Open(Transaction& txn, uint32_t stripe, std::string_view payload) {
  const SpreadPayload spread = TRY(DecodeSpreadPayload(payload));
  const bool negative_zero = !spread.rest.empty();
  if (spread.count == 0) return Status::Corruption("spread zset: no elements");
  if (negative_zero && spread.rest != std::string_view(&kNegativeZero, 1)) {
    return Status::Corruption("spread zset: unknown bytes after the count");
  }
  return SpreadZset(txn, stripe, spread.id, spread.count, negative_zero);
}

std::string SpreadZset::Payload() const {
  std::string payload;
  AppendSpreadPayload(payload, id_, count_);
  if (negative_zero_) payload.push_back(kNegativeZero);
  return payload;
}

Result<std::optional<double>> SpreadZset::Score(std::string_view member) {
  const RowRef row = TRY(txn_->Get(MakeElementRow(id_, member, stripe_)));
  if (!row) return std::optional<double>();
  return std::optional<double>(TRY(DecodeScore(row.bytes())));
}

void SpreadZset::PutElement(std::string_view member, double score) {
  std::string value;
  AppendScore(value, score);
  txn_->Put(MakeElementRow(id_, member, stripe_), value);
  if (score == 0 && std::signbit(score)) negative_zero_ = true;
}

void SpreadZset::Insert(std::string_view member, double score) {
  PutElement(member, score);
  const RowKey row = MakeScoreRow(id_, score, member, stripe_);
  txn_->Put(row, {});
  if (ranked_) txn_->ranks().RowAdded(row);
  ++count_;
}

void SpreadZset::Erase(std::string_view member, double score) {
  txn_->Delete(MakeElementRow(id_, member, stripe_));
  const RowKey row = MakeScoreRow(id_, score, member, stripe_);
  txn_->Delete(row);
  if (ranked_) txn_->ranks().RowRemoved(row);
  --count_;
}

void SpreadZset::Rescore(std::string_view member, double old_score, double score) {
  PutElement(member, score);
  if (old_score == score) return;  // 0.0 and -0.0 share a row
  const RowKey old_row = MakeScoreRow(id_, old_score, member, stripe_);
  txn_->Delete(old_row);
  if (ranked_) txn_->ranks().RowRemoved(old_row);
  const RowKey row = MakeScoreRow(id_, score, member, stripe_);
  txn_->Put(row, {});
  if (ranked_) txn_->ranks().RowAdded(row);
}

Result<uint64_t> SpreadZset::RankOf(std::string_view member, double score) {
  const RowKey row = MakeScoreRow(id_, score, member, stripe_);
  return ScoreRanks().RankOf(row.row().substr(kIdBytes));
}

RowKey SpreadZset::ScoreRow(std::string_view suffix) const {
  RowKey row = MakeCollectionStart(Space::kScores, id_, stripe_);
  row.append(suffix);
  return row;
}

// The bound before all rows of `score`, or after them.
RowKey SpreadZset::ScoreBound(double score, bool after) const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!after) return MakeScoreRow(id_, score, {}, stripe_);
  if (score == kInfinity) return MakeCollectionEnd(Space::kScores, id_, stripe_);
  return MakeScoreRow(id_, std::nextafter(score, kInfinity), {}, stripe_);
}

// Clips the bounds. `first` and `last` are the suffixes of the rows at both ends.
Result<SpreadZset::Span> SpreadZset::Cut(RowKey lower, RowKey upper, std::string_view first, std::string_view last) {
  RowKey first_row = ScoreRow(first);
  RowKey end = After(ScoreRow(last));
  const bool from_start = lower.row() <= first_row.row();
  const bool to_end = upper.row() >= end.row();
  Span span{.lower = from_start ? std::move(first_row) : std::move(lower),
            .upper = to_end ? std::move(end) : std::move(upper)};
  span.empty = span.lower.row() >= span.upper.row();
  span.whole = from_start && to_end;
  return span;
}

Result<SpreadZset::Span> SpreadZset::Find(const ScoreRange& range) {
  if (count_ == 0 || range.min > range.max) return Span();
  const std::string first = TRY(ScoreRanks().At(0));
  const std::string last = TRY(ScoreRanks().At(count_ - 1));
  return Cut(ScoreBound(range.min, range.min_exclusive), ScoreBound(range.max, !range.max_exclusive), first, last);
}

Result<SpreadZset::Span> SpreadZset::Find(const LexRange& range) {
  if (count_ == 0 || range.IsEmpty()) return Span();
  const std::string first = TRY(ScoreRanks().At(0));
  const std::string last = TRY(ScoreRanks().At(count_ - 1));
  const RowKey first_row = ScoreRow(first);
  const RowKey last_row = ScoreRow(last);
  CollectionId id;
  double first_score, last_score;
  std::string_view first_member, last_member;
  if (!ParseScoreRow(first_row.row(), id, first_score, first_member)) return BadRow();
  if (!ParseScoreRow(last_row.row(), id, last_score, last_member)) return BadRow();
  if (!range.ReachesMin(last_member) || !range.ReachesMax(first_member)) return Span();

  RowKey lower = MakeScoreRow(id_, first_score, range.min.member, stripe_);
  RowKey upper = MakeScoreRow(id_, last_score, range.max.member, stripe_);
  if (range.min.kind == LexBound::Kind::kExclusive) lower = After(std::move(lower));
  if (range.max.kind == LexBound::Kind::kInclusive) upper = After(std::move(upper));
  if (range.max.kind == LexBound::Kind::kHighest) upper = ScoreBound(last_score, true);
  return Cut(std::move(lower), std::move(upper), first, last);
}

Result<uint64_t> SpreadZset::Count(const Span& span) {
  if (span.empty) return uint64_t{0};
  if (span.whole) return count_;
  const uint64_t before = TRY(ScoreRanks().RankOf(span.lower.row().substr(kIdBytes)));
  const uint64_t until = TRY(ScoreRanks().RankOf(span.upper.row().substr(kIdBytes)));
  return until - before;
}

// Calls visit with the element of a score row. Returns whether to continue.
Result<bool> SpreadZset::VisitRow(std::string_view row, ScoredVisitor visit) {
  CollectionId id;
  double score;
  std::string_view member;
  if (!ParseScoreRow(row, id, score, member)) return BadRow();
  if (score == 0 && negative_zero_) {
    const std::optional<double> exact = TRY(Score(member));
    if (!exact) return Status::Corruption("spread zset: a score row without its element row");
    score = *exact;
  }
  return visit(member, score);
}

// Skips `offset` rows of the cursor, then visits up to `limit`. Never reads the row after the last one it needs.
// REQUIRES: limit > 0.
Status SpreadZset::ForEachOf(Cursor cursor, uint64_t offset, uint64_t limit, ScoredVisitor visit) {
  while (cursor.Valid()) {
    if (offset > 0) {
      --offset;
    } else if (!TRY(VisitRow(cursor.row(), visit)) || --limit == 0) {
      return Ok();
    }
    cursor.Next();
  }
  return cursor.TakeStatus();
}

Status SpreadZset::ForEach(const Span& span, bool reverse, uint64_t offset, uint64_t limit, ScoredVisitor visit) {
  if (span.empty || limit == 0) return Ok();
  if (offset <= kSkipByWalking) {
    const Direction direction = reverse ? Direction::kReverse : Direction::kForward;
    return ForEachOf(txn_->Scan(span.lower, span.upper, direction), offset, limit, visit);
  }
  const uint64_t before = TRY(ScoreRanks().RankOf(span.lower.row().substr(kIdBytes)));
  const uint64_t size = TRY(Count(span));
  if (offset >= size) return Ok();
  const uint64_t n = std::min(limit, size - offset);
  return ForEachRank(reverse ? before + size - offset - n : before + offset, n, reverse, visit);
}

Status SpreadZset::ForEachRank(uint64_t first, uint64_t n, bool reverse, ScoredVisitor visit) {
  if (n == 0) return Ok();
  if (n <= kTakeFromRanks) {
    std::vector<std::string> suffixes = TRY(ScoreRanks().Take(first, n));
    if (reverse) std::reverse(suffixes.begin(), suffixes.end());
    for (const std::string& suffix : suffixes) {
      if (!TRY(VisitRow(ScoreRow(suffix).row(), visit))) break;
    }
    return Ok();
  }
  const RowKey start = ScoreRow(TRY(ScoreRanks().At(reverse ? first + n - 1 : first)));
  if (reverse) {
    const RowKey lower = MakeCollectionStart(Space::kScores, id_, stripe_);
    return ForEachOf(txn_->Scan(lower, After(start), Direction::kReverse), 0, n, visit);
  }
  const RowKey upper = MakeCollectionEnd(Space::kScores, id_, stripe_);
  return ForEachOf(txn_->Scan(start, upper, Direction::kForward), 0, n, visit);
}

// If there are ranks, the walk starts from a rank, not from the collection's bounds: in a set used as a queue, all
// deleted rows lie behind the bound.
Status SpreadZset::ForEach(ScoredVisitor visit, bool reverse) {
  if (!txn_->reads_snapshot()) return ForEachRank(0, count_, reverse, visit);
  const RowKey lower = MakeCollectionStart(Space::kScores, id_, stripe_);
  const RowKey upper = MakeCollectionEnd(Space::kScores, id_, stripe_);
  return ForEachOf(txn_->Scan(lower, upper, reverse ? Direction::kReverse : Direction::kForward), 0, count_, visit);
}

Result<uint64_t> SpreadZset::Scan(uint64_t position, uint64_t n, ScoredVisitor visit) {
  const RowKey end = MakeCollectionEnd(Space::kElements, id_, stripe_);
  Cursor cursor = txn_->Scan(MakeElementBound(id_, position, stripe_), end);
  uint64_t last_hash = 0;
  for (uint64_t seen = 0; cursor.Valid(); cursor.Next(), ++seen) {
    CollectionId id;
    uint32_t hash;
    std::string_view member;
    if (!ParseElementRow(cursor.row(), id, hash, member)) return BadRow();
    if (seen >= n && hash != last_hash) return last_hash + 1;
    last_hash = hash;
    TRY(visit(member, TRY(DecodeScore(cursor.value()))));
  }
  TRY(cursor.TakeStatus());
  return uint64_t{0};
}

}  // namespace cairn
