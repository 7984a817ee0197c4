// SPDX-License-Identifier: BSD-3-Clause
#include "types/list_chunks.h"

#include <algorithm>
#include <utility>

#include "encoding/varint.h"
#include "types/list_index.h"

namespace cairn {
namespace {

constexpr uint64_t kChunkItems = 128;
constexpr size_t kChunkBytes = 2048;

// Renumbering leaves at least this distance between chunks.
constexpr int64_t kRoomySpacing = 1024;

constexpr int64_t kNoNext = INT64_MAX;

bool FitsChunk(uint64_t count, size_t size_bytes) {
  return count <= 1 || (count <= kChunkItems && size_bytes <= kChunkBytes);
}

// Returns how many items from `from` on fit into a chunk that already holds `count` items in `size_bytes`.
size_t CountFitting(const EncodedItems& items, size_t from, uint64_t count, size_t size_bytes) {
  size_t n = 0;
  while (from + n < items.count()) {
    size_bytes += items.Range(from + n, 1).size();
    if (!FitsChunk(count + n + 1, size_bytes)) break;
    ++n;
  }
  return n;
}

// Halves a packed list repeatedly until each piece fits into a chunk.
Status SplitToFit(std::string items, std::vector<std::string>& pieces) {
  if (FitsChunk(PackedReader(items).count(), items.size())) {
    pieces.push_back(std::move(items));
    return Ok();
  }
  PackedListHalves halves = TRY(HalvePackedList(items));
  TRY(SplitToFit(std::move(halves.left), pieces));
  return SplitToFit(std::move(halves.right), pieces);
}

Status TooFewItems() { return Status::Corruption("list: the chunks hold fewer items than the list's count"); }

}  // namespace

Result<ListChunks> ListChunks::Decode(Transaction& txn, CollectionId id, uint32_t stripe, std::string_view ends) {
  uint64_t first;
  uint64_t last;
  if (!ReadVarint(ends, first) || !ReadVarint(ends, last) || !ends.empty()) {
    return Status::Corruption("list: malformed ends");
  }
  ListChunks chunks(txn, id, stripe);
  chunks.rows_.first = UnZigZag(first);
  chunks.rows_.last = UnZigZag(last);
  if (chunks.rows_.first < -kChunkSeqLimit || chunks.rows_.first > chunks.rows_.last ||
      chunks.rows_.last > kChunkSeqLimit) {
    return Status::Corruption("list: impossible ends");
  }
  return chunks;
}

void ListChunks::AppendEnds(std::string& payload) const {
  AppendVarint(payload, ZigZag(rows_.first));
  AppendVarint(payload, ZigZag(rows_.last));
}

void ListChunks::Put(int64_t seq, bool crowded, std::string_view items) {
  std::string value;
  value.reserve(1 + items.size());
  AppendChunk(value, crowded, items);
  txn_->Put(rows_.Row(seq), value);
}

Result<bool> ListChunks::AddChunk(ListEnd end, bool is_empty) {
  if (is_empty) {
    rows_.first = rows_.last = 0;
    return false;
  }
  if (rows_.first < -kChunkSeqLimit + kChunkGrid || rows_.last > kChunkSeqLimit - kChunkGrid) {
    return Status::Reply("ERR the list has no free chunk numbers at this end");
  }
  if (end == ListEnd::kTail) {
    rows_.last = NextOnGrid(rows_.last);
    return false;
  }
  const int64_t next = std::exchange(rows_.first, PreviousOnGrid(rows_.first));
  return IsCrowded(rows_.first, next);
}

Status ListChunks::Push(ListEnd end, const EncodedItems& items, bool is_empty) {
  size_t pushed = 0;
  if (!is_empty) {
    const int64_t seq = EndSeq(end);
    const RowRef row = TRY(txn_->Get(rows_.Row(seq)));
    if (!row) return Status::Corruption("list: the chunk at its end is missing");
    const ListChunk chunk = TRY(DecodeChunk(seq, row.bytes()));
    pushed = CountFitting(items, 0, chunk.count, chunk.items.size());
    if (pushed > 0) Put(seq, chunk.crowded, ExtendPackedList(chunk.items, end, items, 0, pushed));
    CountItems(*txn_, rows_, seq, static_cast<int64_t>(pushed));
  }
  while (pushed < items.count()) {
    const bool crowded = TRY(AddChunk(end, is_empty));
    is_empty = false;
    const size_t n = CountFitting(items, pushed, 0, kEmptyPackedList.size());
    Put(EndSeq(end), crowded, ExtendPackedList(kEmptyPackedList, end, items, pushed, n));
    CountItems(*txn_, rows_, EndSeq(end), static_cast<int64_t>(n));
    pushed += n;
    TRY(txn_->command().Spend(1));
  }
  return Ok();
}

Status ListChunks::Drop(ListEnd end, uint64_t n, const ItemVisitor* visit) {
  const bool from_tail = end == ListEnd::kTail;
  if (n > kMostCounted) txn_->ranks().Drop(rows_.id, rows_.stripe);
  ChunkWalk walk = WalkFrom(end);
  while (walk.Valid()) {
    const ListChunk& chunk = walk.chunk();
    EndSeq(end) = chunk.seq;
    if (n == 0) return Ok();
    const uint64_t dropped = std::min(n, chunk.count);
    const uint64_t at = from_tail ? chunk.count - dropped : 0;
    if (visit != nullptr) TRY(ForEachItem(chunk.items, at, dropped, from_tail, *visit));
    CountItems(*txn_, rows_, chunk.seq, -static_cast<int64_t>(dropped));
    if (dropped < chunk.count) {
      const PackedListCut cut = TRY(CutPackedList(chunk.items, at, dropped));
      Put(chunk.seq, chunk.crowded, ReplaceRange(cut, {}));
      return Ok();
    }
    txn_->Delete(rows_.Row(chunk.seq));
    n -= dropped;
    walk.Next();
  }
  TRY(walk.TakeStatus());
  return TooFewItems();
}

Result<ListChunks::Place> ListChunks::ChunkAt(uint64_t index, uint64_t total) {
  if (index == 0) return Place{rows_.first, 0};
  const bool from_head = index < total / 2;
  const uint64_t left = from_head ? index : total - 1 - index;
  if (left > kIndexedDistance) {
    if (const auto start = TRY(FindIndexed(*txn_, rows_, index, total))) {
      return ChunkBehind(Walk(start->seq, Direction::kForward), true, index - start->before);
    }
  }
  return ChunkBehind(WalkFrom(from_head ? ListEnd::kHead : ListEnd::kTail), from_head, left);
}

// Finds the item that has `left` items before it on the walk.
Result<ListChunks::Place> ListChunks::ChunkBehind(ChunkWalk walk, bool forward, uint64_t left) {
  for (; walk.Valid(); walk.Next()) {
    const ListChunk& chunk = walk.chunk();
    if (left < chunk.count) return Place{chunk.seq, forward ? left : chunk.count - 1 - left};
    left -= chunk.count;
  }
  TRY(walk.TakeStatus());
  return TooFewItems();
}

Status ListChunks::ForEach(uint64_t index, uint64_t n, bool reverse, uint64_t total, const ItemVisitor& visit) {
  if (n == 0) return Ok();
  Place place = TRY(ChunkAt(index, total));
  ChunkWalk walk = Walk(place.seq, reverse ? Direction::kReverse : Direction::kForward);
  bool is_first = true;
  for (; walk.Valid(); walk.Next()) {
    const ListChunk& chunk = walk.chunk();
    const uint64_t start = is_first ? place.offset : reverse ? chunk.count - 1 : 0;
    if (start >= chunk.count) return TooFewItems();
    is_first = false;
    const uint64_t here = std::min(n, reverse ? start + 1 : chunk.count - start);
    TRY(ForEachItem(chunk.items, reverse ? start + 1 - here : start, here, reverse, visit));
    n -= here;
    if (n == 0) return Ok();
  }
  TRY(walk.TakeStatus());
  return TooFewItems();
}

Status ListChunks::Find(const Item& wanted, ListEnd end, uint64_t max_items,
                        const std::function<bool(uint64_t)>& visit) {
  std::vector<uint64_t> positions;
  uint64_t passed = 0;
  ChunkWalk walk = WalkFrom(end);
  for (; walk.Valid() && passed < max_items; walk.Next()) {
    const ListChunk& chunk = walk.chunk();
    positions.clear();
    TRY(FindItems(chunk.items, wanted, positions));
    if (end == ListEnd::kTail) std::reverse(positions.begin(), positions.end());
    for (const uint64_t position : positions) {
      const uint64_t distance = passed + (end == ListEnd::kTail ? chunk.count - 1 - position : position);
      if (distance >= max_items || !visit(distance)) return Ok();
    }
    passed += chunk.count;
  }
  return walk.TakeStatus();
}

Status ListChunks::Set(uint64_t index, std::string_view value, uint64_t total) {
  const Place place = TRY(ChunkAt(index, total));
  ChunkWalk walk = Walk(place.seq, Direction::kForward);
  if (!walk.Valid()) return walk.TakeStatus();
  const PackedListCut cut = TRY(CutPackedList(walk.chunk().items, place.offset, 1));
  return Store(walk.chunk(), ReplaceRange(cut, EncodedItems(std::span(&value, 1))));
}

Result<bool> ListChunks::Insert(const Item& pivot, bool before, std::string_view value) {
  ChunkWalk walk = WalkFrom(ListEnd::kHead);
  for (; walk.Valid(); walk.Next()) {
    const auto position = TRY(FindItem(walk.chunk().items, pivot));
    if (!position) continue;
    const PackedListCut cut = TRY(CutPackedList(walk.chunk().items, *position + (before ? 0 : 1), 0));
    TRY(Store(walk.chunk(), ReplaceRange(cut, EncodedItems(std::span(&value, 1)))));
    return true;
  }
  TRY(walk.TakeStatus());
  return false;
}

Result<uint64_t> ListChunks::Remove(const Item& wanted, ListEnd end, uint64_t limit) {
  const bool from_tail = end == ListEnd::kTail;
  txn_->ranks().Drop(rows_.id, rows_.stripe);  // any chunk may be deleted
  std::vector<uint64_t> positions;
  uint64_t removed = 0;
  std::optional<int64_t> nearest;  // the chunk passed last that stays
  std::optional<int64_t> farthest;
  ChunkWalk walk = WalkFrom(end);
  for (; walk.Valid() && (removed < limit || !nearest); walk.Next()) {
    const ListChunk& chunk = walk.chunk();
    positions.clear();
    if (removed < limit) TRY(FindItems(chunk.items, wanted, positions));
    if (const uint64_t n = std::min<uint64_t>(positions.size(), limit - removed); n > 0) {
      const auto chosen = std::span(positions).subspan(from_tail ? positions.size() - n : 0, n);
      removed += n;
      if (n == chunk.count) {
        txn_->Delete(rows_.Row(chunk.seq));
        continue;
      }
      Put(chunk.seq, chunk.crowded, TRY(WithoutItems(chunk.items, chosen)));
    }
    if (!nearest) nearest = chunk.seq;
    farthest = chunk.seq;
  }
  const bool walked_to_the_end = !walk.Valid();
  TRY(walk.TakeStatus());
  if (nearest) EndSeq(end) = *nearest;
  if (walked_to_the_end && farthest) EndSeq(from_tail ? ListEnd::kHead : ListEnd::kTail) = *farthest;
  return removed;
}

Status ListChunks::Store(const ListChunk& chunk, std::string items) {
  std::vector<std::string> pieces;
  TRY(SplitToFit(std::move(items), pieces));
  const auto count_of = [&pieces](size_t i) { return static_cast<int64_t>(PackedReader(pieces[i]).count()); };
  CountItems(*txn_, rows_, chunk.seq, count_of(0) - static_cast<int64_t>(chunk.count));
  if (pieces.size() == 1) {
    Put(chunk.seq, chunk.crowded, pieces[0]);
    return Ok();
  }
  int64_t next;
  std::vector<int64_t> seqs = TRY(MakeRoom(chunk.seq, pieces.size() - 1, next));
  seqs.insert(seqs.begin(), chunk.seq);
  seqs.push_back(next);
  for (size_t i = 0; i < pieces.size(); ++i) {
    Put(seqs[i], IsCrowded(seqs[i], seqs[i + 1]), pieces[i]);
    if (i > 0) CountItems(*txn_, rows_, seqs[i], count_of(i));
  }
  return Ok();
}

Result<std::vector<int64_t>> ListChunks::MakeRoom(int64_t seq, size_t extra, int64_t& next) {
  std::vector<int64_t> seqs;
  if (seq == rows_.last) {
    for (size_t i = 0; i < extra; ++i) {
      TRY(AddChunk(ListEnd::kTail, false));
      seqs.push_back(rows_.last);
    }
    next = kNoNext;
    return seqs;
  }
  ChunkWalk walk = Walk(seq, Direction::kForward);
  if (walk.Valid()) walk.Next();
  if (!walk.Valid()) return walk.TakeStatus();
  next = walk.chunk().seq;
  const int64_t pieces = static_cast<int64_t>(extra) + 1;
  if (next - seq < pieces) return Renumber(seq, extra, next);
  for (int64_t i = 1; i < pieces; ++i) seqs.push_back(seq + (next - seq) / pieces * i);
  return seqs;
}

Result<std::vector<int64_t>> ListChunks::Renumber(int64_t seq, size_t extra, int64_t& next) {
  struct Moved {
    int64_t seq;
    std::string items;
  };
  txn_->ranks().Drop(rows_.id, rows_.stripe);
  std::vector<Moved> moved;
  int64_t bound = kNoNext;  // the first chunk that keeps its number
  ChunkWalk walk = Walk(seq, Direction::kForward);
  for (walk.Next(); walk.Valid(); walk.Next()) {
    const int64_t gaps = static_cast<int64_t>(extra + moved.size()) + 1;
    if ((walk.chunk().seq - seq) / gaps >= kRoomySpacing) {
      bound = walk.chunk().seq;
      break;
    }
    moved.push_back({walk.chunk().seq, std::string(walk.chunk().items)});
  }
  TRY(walk.TakeStatus());

  const size_t slots = extra + moved.size();
  std::vector<int64_t> seqs;  // the extra numbers, then the moved chunks'
  int64_t number = seq;
  for (size_t i = 0; i < slots; ++i) {
    number = bound == kNoNext ? NextOnGrid(number) : number + (bound - seq) / static_cast<int64_t>(slots + 1);
    seqs.push_back(number);
  }
  if (bound == kNoNext) rows_.last = number;
  seqs.push_back(bound);
  for (const Moved& chunk : moved) txn_->Delete(rows_.Row(chunk.seq));
  for (size_t i = 0; i < moved.size(); ++i) {
    Put(seqs[extra + i], IsCrowded(seqs[extra + i], seqs[extra + i + 1]), moved[i].items);
  }
  next = seqs[extra];
  seqs.resize(extra);
  return seqs;
}

}  // namespace cairn
