// SPDX-License-Identifier: BSD-3-Clause
#include "types/list.h"

#include <algorithm>
#include <utility>

namespace cairn {
namespace {

// list-max-listpack-size is a count, or -1 to -5 for one of these sizes.
constexpr uint64_t kPackedSizes[] = {4096, 8192, 16384, 32768, 65536};
// The maximum size of the items if the limit is a count.
constexpr uint64_t kPackedSafetyBytes = 8192;

// LTRIM rewrites the items it keeps into a new collection if it removes at least this many times more items.
constexpr uint64_t kRewriteShare = 16;

Result<EncodedItems> Encode(std::string_view packed, uint64_t count) {
  EncodedItems items;
  TRY(ForEachItem(packed, 0, count, false, [&items](const Item& item) { items.Add(item); }));
  return items;
}

}  // namespace

Status List::Open() { return Open(TRY(keyspace_->FindTyped(*key_, Type::kList))); }

Status List::Open(KeyEntry entry) {
  entry_ = std::move(entry);
  if (!entry_.exists()) {
    rewritten_ = std::string(kEmptyPackedList);
    is_rewritten_ = true;
    return Ok();
  }
  if (entry_.encoding() == Encoding::kPacked) {
    count_ = TRY(CutPackedList(entry_.payload(), 0, 0)).after_count;
    return count_ > 0 ? Ok() : Status::Corruption("list: no items");
  }
  if (entry_.encoding() != Encoding::kSpread) return Status::Corruption("list: unknown encoding");
  const SpreadPayload spread = TRY(DecodeSpreadPayload(entry_.payload()));
  count_ = spread.count;
  if (count_ == 0) return Status::Corruption("list: no items");
  chunks_ = TRY(ListChunks::Decode(keyspace_->txn(), spread.id, key_->stripe(), spread.rest));
  return Ok();
}

Status List::Save() {
  if (count_ == 0) return entry_.exists() ? keyspace_->Remove(*key_, entry_) : Ok();
  RecordHeader header;
  if (entry_.exists()) header = entry_.header();
  header.type = Type::kList;
  header.encoding = chunks_ ? Encoding::kSpread : Encoding::kPacked;
  if (!chunks_) return keyspace_->Write(*key_, entry_, header, packed());
  std::string payload;
  AppendSpreadPayload(payload, chunks_->id(), count_);
  chunks_->AppendEnds(payload);
  return keyspace_->Write(*key_, entry_, header, payload);
}

bool List::FitsPacked(uint64_t count, uint64_t size_bytes) const {
  const Limits& limits = keyspace_->limits();
  if (size_bytes > static_cast<uint64_t>(limits.packed_max_bytes.load(std::memory_order_relaxed))) return false;
  const int64_t limit = limits.list_max_listpack_size.load(std::memory_order_relaxed);
  if (limit >= 0) return count <= static_cast<uint64_t>(limit) && size_bytes <= kPackedSafetyBytes;
  return size_bytes <= kPackedSizes[std::min<int64_t>(-limit, std::size(kPackedSizes)) - 1];
}

Status List::Spread(const EncodedItems& items) {
  chunks_.emplace(keyspace_->txn(), keyspace_->txn().NewCollectionId(keyspace_->id()), key_->stripe());
  is_rewritten_ = false;
  return chunks_->Push(ListEnd::kTail, items, true);
}

Status List::Repack(std::string packed, uint64_t count) {
  rewritten_ = std::move(packed);
  is_rewritten_ = true;
  count_ = count;
  if (FitsPacked(count, rewritten_.size())) return Ok();
  return Spread(TRY(Encode(rewritten_, count)));
}

Status List::Push(ListEnd end, const EncodedItems& items) {
  if (chunks_ && count_ == 0) {  // Pop left its chunks, so the items need a new collection
    chunks_.reset();
    rewritten_ = std::string(kEmptyPackedList);
    is_rewritten_ = true;
  }
  if (!chunks_) {
    if (FitsPacked(count_ + items.count(), packed().size() + items.size_bytes())) {
      return Repack(ExtendPackedList(packed(), end, items, 0, items.count()), count_ + items.count());
    }
    TRY(Spread(TRY(Encode(packed(), count_))));
  }
  TRY(chunks_->Push(end, items, count_ == 0));
  count_ += items.count();
  return Ok();
}

Status List::Pop(ListEnd end, uint64_t n, const ItemVisitor& visit) {
  const bool from_tail = end == ListEnd::kTail;
  const uint64_t start = from_tail ? count_ - n : 0;
  if (!chunks_) {
    TRY(ForEachItem(packed(), start, n, from_tail, visit));
    const PackedListCut cut = TRY(CutPackedList(packed(), start, n));
    return Repack(ReplaceRange(cut, {}), count_ - n);
  }
  if (n == count_) {  // the chunks are dropped with the collection
    TRY(chunks_->ForEach(from_tail ? count_ - 1 : 0, n, from_tail, count_, visit));
  } else {
    TRY(chunks_->Drop(end, n, &visit));
  }
  count_ -= n;
  return Ok();
}

Status List::Trim(uint64_t start, uint64_t n) {
  const uint64_t behind = count_ - start - n;
  if (!chunks_) {
    const PackedListCut cut = TRY(CutPackedList(packed(), start, n));
    return Repack(JoinPackedList(n, cut.range), n);
  }
  if (n > 0 && n < (count_ - n) / kRewriteShare) return KeepOnly(start, n);
  if (n > 0) {
    TRY(chunks_->Drop(ListEnd::kHead, start, nullptr));
    TRY(chunks_->Drop(ListEnd::kTail, behind, nullptr));
  }
  count_ = n;
  return Ok();
}

Status List::KeepOnly(uint64_t start, uint64_t n) {
  EncodedItems kept;
  TRY(ForEach(start, n, [&kept](const Item& item) { kept.Add(item); }));
  chunks_.reset();
  count_ = n;
  if (!FitsPacked(n, kept.size_bytes())) return Spread(kept);
  rewritten_ = ExtendPackedList(kEmptyPackedList, ListEnd::kTail, kept, 0, n);
  is_rewritten_ = true;
  return Ok();
}

Status List::ForEach(uint64_t start, uint64_t n, const ItemVisitor& visit, bool reverse) {
  if (!chunks_) return ForEachItem(packed(), start, n, reverse, visit);
  return chunks_->ForEach(reverse ? start + n - 1 : start, n, reverse, count_, visit);
}

Status List::Find(std::string_view value, ListEnd end, uint64_t max_items, const std::function<bool(uint64_t)>& visit) {
  const Item wanted = Item::FromText(value);
  if (chunks_) return chunks_->Find(wanted, end, max_items, visit);
  std::vector<uint64_t> positions;
  TRY(FindItems(packed(), wanted, positions));
  if (end == ListEnd::kTail) std::reverse(positions.begin(), positions.end());
  for (const uint64_t position : positions) {
    const uint64_t distance = end == ListEnd::kTail ? count_ - 1 - position : position;
    if (distance >= max_items || !visit(distance)) break;
  }
  return Ok();
}

Status List::Set(uint64_t index, std::string_view value) {
  if (chunks_) return chunks_->Set(index, value, count_);
  const PackedListCut cut = TRY(CutPackedList(packed(), index, 1));
  return Repack(ReplaceRange(cut, EncodedItems(std::span(&value, 1))), count_);
}

Result<bool> List::Insert(std::string_view pivot, bool before, std::string_view value) {
  const Item wanted = Item::FromText(pivot);
  if (chunks_) {
    const bool inserted = TRY(chunks_->Insert(wanted, before, value));
    if (inserted) ++count_;
    return inserted;
  }
  const auto position = TRY(FindItem(packed(), wanted));
  if (!position) return false;
  const PackedListCut cut = TRY(CutPackedList(packed(), *position + (before ? 0 : 1), 0));
  TRY(Repack(ReplaceRange(cut, EncodedItems(std::span(&value, 1))), count_ + 1));
  return true;
}

Result<uint64_t> List::Remove(std::string_view value, ListEnd end, uint64_t limit) {
  const Item wanted = Item::FromText(value);
  if (chunks_) {
    const uint64_t removed = TRY(chunks_->Remove(wanted, end, limit));
    count_ -= removed;
    return removed;
  }
  std::vector<uint64_t> positions;
  TRY(FindItems(packed(), wanted, positions));
  const uint64_t n = std::min<uint64_t>(positions.size(), limit);
  const auto chosen = std::span(positions).subspan(end == ListEnd::kTail ? positions.size() - n : 0, n);
  if (n > 0) TRY(Repack(TRY(WithoutItems(packed(), chosen)), count_ - n));
  return n;
}

}  // namespace cairn
