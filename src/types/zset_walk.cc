// SPDX-License-Identifier: BSD-3-Clause
//
// The part of Zset that handles many elements: ranges, counts, pops, scans.
//
// A packed set is read as a whole and cut to a window of its entries; a spread one is walked row by row.
#include <algorithm>

#include "types/zset.h"

namespace cairn {
namespace {

using Entry = PackedZset::Entry;

// A range of elements in the set's order, [begin, end).
struct Window {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t size() const { return end - begin; }
};

// The ascending ranks of an interval of ranks in a set of `size`.
Window WindowOfRanks(const ZsetRange& range, uint64_t size) {
  const auto n = static_cast<int64_t>(size);
  int64_t first = range.first_rank < 0 ? range.first_rank + n : range.first_rank;
  int64_t last = range.last_rank < 0 ? range.last_rank + n : range.last_rank;
  first = std::max<int64_t>(first, 0);
  last = std::min(last, n - 1);
  if (first > last) return {};
  if (range.reverse) return {static_cast<uint64_t>(n - 1 - last), static_cast<uint64_t>(n - first)};
  return {static_cast<uint64_t>(first), static_cast<uint64_t>(last + 1)};
}

Window WindowOfScores(const std::vector<Entry>& entries, const ScoreRange& range) {
  size_t begin = 0;
  while (begin < entries.size() && !range.ReachesMin(entries[begin].score)) ++begin;
  size_t end = begin;
  while (end < entries.size() && range.ReachesMax(entries[end].score)) ++end;
  return {begin, end};
}

// If scores differ, the result depends on the end at which the walk starts, as it does in Redis.
Window WindowOfMembers(const std::vector<Entry>& entries, const LexRange& range, bool reverse) {
  std::string scratch;
  const auto reaches_min = [&](size_t i) { return range.ReachesMin(entries[i].member.Text(scratch)); };
  const auto reaches_max = [&](size_t i) { return range.ReachesMax(entries[i].member.Text(scratch)); };
  if (range.IsEmpty() || !reaches_min(entries.size() - 1) || !reaches_max(0)) return {};
  if (reverse) {
    size_t end = entries.size();
    while (end > 0 && !reaches_max(end - 1)) --end;
    size_t begin = end;
    while (begin > 0 && reaches_min(begin - 1)) --begin;
    return {begin, end};
  }
  size_t begin = 0;
  while (begin < entries.size() && !reaches_min(begin)) ++begin;
  size_t end = begin;
  while (end < entries.size() && reaches_max(end)) ++end;
  return {begin, end};
}

// LIMIT's count as an unsigned number.
uint64_t TakenBy(const ZsetRange& range) { return range.limit < 0 ? UINT64_MAX : static_cast<uint64_t>(range.limit); }

Window WindowOf(const std::vector<Entry>& entries, const ZsetRange& range) {
  if (range.by == ZsetRange::By::kRank) return WindowOfRanks(range, entries.size());
  Window window = range.by == ZsetRange::By::kScore ? WindowOfScores(entries, range.scores)
                                                    : WindowOfMembers(entries, range.members, range.reverse);
  if (range.offset < 0 || static_cast<uint64_t>(range.offset) >= window.size()) return {};
  const auto offset = static_cast<uint64_t>(range.offset);
  const uint64_t taken = std::min(TakenBy(range), window.size() - offset);
  if (range.reverse) return {window.end - offset - taken, window.end - offset};
  return {window.begin + offset, window.begin + offset + taken};
}

Status VisitEntries(const std::vector<Entry>& entries, Window window, bool reverse, ScoredVisitor visit) {
  std::string scratch;
  for (uint64_t i = 0; i < window.size(); ++i) {
    const Entry& entry = entries[reverse ? window.end - 1 - i : window.begin + i];
    if (!TRY(visit(entry.member.Text(scratch), entry.score))) break;
  }
  return Ok();
}

}  // namespace

Status Zset::ForEach(ScoredVisitor visit, bool reverse) {
  return spread_ ? spread_->ForEach(visit, reverse) : ForEach({.reverse = reverse}, visit);
}

Status Zset::ForEach(const ZsetRange& range, ScoredVisitor visit) {
  if (size() == 0) return Ok();
  if (spread_) return ForEachSpread(range, visit);
  const std::vector<Entry> entries = TRY(PackedZset(packed()).Read());
  return VisitEntries(entries, WindowOf(entries, range), range.reverse, visit);
}

Status Zset::ForEachSpread(const ZsetRange& range, ScoredVisitor visit) {
  if (range.by == ZsetRange::By::kRank) {
    const Window window = WindowOfRanks(range, size());
    return spread_->ForEachRank(window.begin, window.size(), range.reverse, visit);
  }
  if (range.offset < 0) return Ok();
  const SpreadZset::Span span =
      range.by == ZsetRange::By::kScore ? TRY(spread_->Find(range.scores)) : TRY(spread_->Find(range.members));
  return spread_->ForEach(span, range.reverse, static_cast<uint64_t>(range.offset), TakenBy(range), visit);
}

Result<uint64_t> Zset::Count(const ScoreRange& range) {
  if (size() == 0) return uint64_t{0};
  if (spread_) return spread_->Count(TRY(spread_->Find(range)));
  return WindowOfScores(TRY(PackedZset(packed()).Read()), range).size();
}

Result<uint64_t> Zset::Count(const LexRange& range) {
  if (size() == 0) return uint64_t{0};
  if (spread_) return spread_->Count(TRY(spread_->Find(range)));
  return WindowOfMembers(TRY(PackedZset(packed()).Read()), range, false).size();
}

// Removes the entries [begin, end) of a packed set.
Status Zset::RemoveEntries(const std::vector<Entry>& entries, size_t begin, size_t end) {
  if (begin == end) return Ok();
  const uint64_t removed = end - begin;
  SetPacked(TRY(PackedZset(packed()).Without(entries[begin].begin, entries[end - 1].end, removed)),
            packed_count_ - removed);
  return Ok();
}

Result<uint64_t> Zset::RemoveRange(const ZsetRange& range) {
  if (size() == 0) return uint64_t{0};
  if (spread_) return RemoveSpread(range);
  const std::vector<Entry> entries = TRY(PackedZset(packed()).Read());
  const Window window = WindowOf(entries, range);
  TRY(RemoveEntries(entries, window.begin, window.end));
  return window.size();
}

Result<uint64_t> Zset::RemoveSpread(const ZsetRange& range) {
  const uint64_t before = size();
  const auto erase = [&](std::string_view member, double score) {
    spread_->Erase(member, score);
    return true;
  };
  if (range.by == ZsetRange::By::kRank) {
    const Window window = WindowOfRanks(range, before);
    if (window.size() == before) {
      Clear();
    } else {
      TRY(spread_->ForEachRank(window.begin, window.size(), false, erase));
    }
  } else {
    const SpreadZset::Span span =
        range.by == ZsetRange::By::kScore ? TRY(spread_->Find(range.scores)) : TRY(spread_->Find(range.members));
    if (span.whole) {
      Clear();
    } else {
      TRY(spread_->ForEach(span, false, 0, UINT64_MAX, erase));
    }
  }
  return before - size();
}

Status Zset::Pop(uint64_t n, bool highest, ScoredVisitor visit) {
  n = std::min(n, size());
  if (n == 0) return Ok();
  const Window window = highest ? Window{size() - n, size()} : Window{0, n};
  if (!spread_) {
    const std::vector<Entry> entries = TRY(PackedZset(packed()).Read());
    TRY(VisitEntries(entries, window, highest, visit));
    return RemoveEntries(entries, window.begin, window.end);
  }
  const bool whole = n == size();
  TRY(spread_->ForEachRank(window.begin, n, highest, [&](std::string_view member, double score) -> Result<bool> {
    TRY(visit(member, score));
    if (!whole) spread_->Erase(member, score);
    return true;
  }));
  if (whole) Clear();
  return Ok();
}

Status Zset::ForEachRank(const std::vector<uint64_t>& ranks, ScoredVisitor visit) {
  std::vector<Entry> entries;
  if (!spread_) entries = TRY(PackedZset(packed()).Read());
  for (const uint64_t rank : ranks) {
    if (spread_) {
      TRY(spread_->ForEachRank(rank, 1, false, visit));
    } else {
      TRY(VisitEntries(entries, {rank, rank + 1}, false, visit));
    }
  }
  return Ok();
}

Result<uint64_t> Zset::Scan(uint64_t position, uint64_t n, ScoredVisitor visit) {
  if (spread_) return spread_->Scan(position, n, visit);
  TRY(ForEach(visit));
  return uint64_t{0};
}

}  // namespace cairn
