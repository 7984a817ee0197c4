// SPDX-License-Identifier: BSD-3-Clause
#include "storage/rank_index.h"

#include <algorithm>

#include "base/assert.h"

namespace cairn {
namespace {

constexpr uint64_t kMostMergedRows = 1 << 16;

}  // namespace

RankIndex::RankIndex(uint64_t total, Weights weights) : weights_(weights), count_(total) {
  Block block{.count = total, .leaves = {}};
  const bool resident = total == 0 && weights == Weights::kOne;
  block.leaves.push_back(Leaf{.first = "", .count = total, .resident = resident, .rows = {}});
  bytes_ = BytesOf(block.leaves[0]);
  blocks_.push_back(std::move(block));
}

// Counts the bound's size and not its capacity, because the size does not change when the leaf is moved.
size_t RankIndex::BytesOf(const Leaf& leaf) { return sizeof(Leaf) + leaf.first.size() + leaf.rows.bytes(); }

RankIndex::Place RankIndex::FindRow(std::string_view suffix) const {
  const auto block = std::upper_bound(blocks_.begin() + 1, blocks_.end(), suffix,
                                      [](std::string_view s, const Block& b) { return s < b.leaves[0].first; }) -
                     1;
  const std::vector<Leaf>& leaves = block->leaves;
  const auto leaf = std::upper_bound(leaves.begin() + 1, leaves.end(), suffix,
                                     [](std::string_view s, const Leaf& l) { return s < l.first; }) -
                    1;
  Place place{static_cast<size_t>(block - blocks_.begin()), static_cast<size_t>(leaf - leaves.begin()), 0};
  for (size_t b = 0; b < place.block; ++b) place.before += blocks_[b].count;
  for (size_t l = 0; l < place.leaf; ++l) place.before += leaves[l].count;
  return place;
}

RankIndex::Place RankIndex::FindRank(uint64_t rank) const {
  ASSERT(rank < count_, "the rank is within the collection");
  Place place;
  while (place.before + blocks_[place.block].count <= rank) place.before += blocks_[place.block++].count;
  const std::vector<Leaf>& leaves = blocks_[place.block].leaves;
  while (place.before + leaves[place.leaf].count <= rank) place.before += leaves[place.leaf++].count;
  return place;
}

const std::string* RankIndex::BoundAfter(const Place& place) const {
  const std::vector<Leaf>& leaves = blocks_[place.block].leaves;
  if (place.leaf + 1 < leaves.size()) return &leaves[place.leaf + 1].first;
  if (place.block + 1 < blocks_.size()) return &blocks_[place.block + 1].leaves[0].first;
  return nullptr;
}

bool RankIndex::Advance(Place& place) const {
  place.before += At(place).count;
  if (++place.leaf < blocks_[place.block].leaves.size()) return true;
  place.leaf = 0;
  return ++place.block < blocks_.size();
}

void RankIndex::Add(std::string_view suffix, uint64_t n) {
  ASSERT(n == 1 || weights_ == Weights::kMany, "a row counts as one");
  if (count_ == kBroken) return;
  const Place place = FindRow(suffix);
  Leaf& leaf = blocks_[place.block].leaves[place.leaf];
  leaf.count += n;
  blocks_[place.block].count += n;
  count_ += n;
  if (!leaf.resident) return;
  bytes_ -= leaf.rows.bytes();
  leaf.rows.Add(suffix);
  bytes_ += leaf.rows.bytes();
  if (leaf.rows.size() > kMaxLeafRows) SplitLeaf(place);
}

void RankIndex::Remove(std::string_view suffix, uint64_t n) {
  ASSERT(n == 1 || weights_ == Weights::kMany, "a row counts as one");
  if (count_ == kBroken) return;
  const Place place = FindRow(suffix);
  Leaf& leaf = blocks_[place.block].leaves[place.leaf];
  if (leaf.count < n || (leaf.resident && !leaf.rows.Remove(suffix))) {
    Break();
    return;
  }
  leaf.count -= n;
  blocks_[place.block].count -= n;
  count_ -= n;
  if (leaf.count > 0) return;
  bytes_ -= leaf.rows.bytes();
  leaf.rows.Clear();
  leaf.resident = weights_ == Weights::kOne;
  MergeEmpty(place);
}

void RankIndex::SplitLeaf(const Place& place) {
  std::vector<Leaf>& leaves = blocks_[place.block].leaves;
  Leaf& leaf = leaves[place.leaf];
  bytes_ -= BytesOf(leaf);
  Leaf upper{.first = "", .count = 0, .resident = true, .rows = leaf.rows.SplitOff(leaf.rows.size() / 2)};
  upper.first = upper.rows[0];
  upper.count = upper.rows.size();
  leaf.rows.Shrink();
  leaf.count = leaf.rows.size();
  bytes_ += BytesOf(leaf) + BytesOf(upper);
  leaves.insert(leaves.begin() + static_cast<ptrdiff_t>(place.leaf) + 1, std::move(upper));
  if (leaves.size() > kMaxBlockLeaves) SplitBlock(place.block);
}

void RankIndex::SplitBlock(size_t block) {
  std::vector<Leaf> leaves = std::move(blocks_[block].leaves);
  constexpr size_t kKept = kMaxBlockLeaves / 2;
  std::vector<Block> blocks((leaves.size() + kKept - 1) / kKept);
  for (size_t at = 0; at < leaves.size(); ++at) blocks[at / kKept].leaves.push_back(std::move(leaves[at]));
  for (Block& part : blocks) Recount(part);
  blocks_[block] = std::move(blocks[0]);
  blocks_.insert(blocks_.begin() + static_cast<ptrdiff_t>(block) + 1, std::make_move_iterator(blocks.begin() + 1),
                 std::make_move_iterator(blocks.end()));
}

void RankIndex::Recount(Block& block) {
  block.count = 0;
  for (const Leaf& leaf : block.leaves) block.count += leaf.count;
}

void RankIndex::MergeEmpty(const Place& place) {
  Place next = place;
  if (Advance(next) && At(next).count == 0) DropLeaf(next);
  if (place.block == 0 && place.leaf == 0) return;
  Place previous = place;
  if (previous.leaf == 0) previous.leaf = blocks_[--previous.block].leaves.size();
  --previous.leaf;
  if (At(previous).count == 0) DropLeaf(place);
}

void RankIndex::DropLeaf(const Place& place) {
  std::vector<Leaf>& leaves = blocks_[place.block].leaves;
  bytes_ -= BytesOf(leaves[place.leaf]);
  leaves.erase(leaves.begin() + static_cast<ptrdiff_t>(place.leaf));
  if (leaves.empty()) blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(place.block));
}

void RankIndex::Replace(const Place& place, std::vector<Leaf> leaves) {
  std::vector<Leaf>& old = blocks_[place.block].leaves;
  bytes_ -= BytesOf(old[place.leaf]);
  uint64_t count = 0;
  for (const Leaf& leaf : leaves) {
    bytes_ += BytesOf(leaf);
    count += leaf.count;
  }
  ASSERT(count == old[place.leaf].count, "the replacement covers the same rows");
  old[place.leaf] = std::move(leaves[0]);
  old.insert(old.begin() + static_cast<ptrdiff_t>(place.leaf) + 1, std::make_move_iterator(leaves.begin() + 1),
             std::make_move_iterator(leaves.end()));
  if (old.size() > kMaxBlockLeaves) SplitBlock(place.block);
}

void RankIndex::Trim(size_t bytes) {
  for (size_t step = 0; step < blocks_.size() && bytes_ > bytes; ++step) {
    trim_hand_ = (trim_hand_ + 1) % blocks_.size();
    for (Leaf& leaf : blocks_[trim_hand_].leaves) {
      if (!leaf.resident || leaf.count == 0) continue;
      bytes_ -= leaf.rows.bytes();
      leaf.rows.Clear();
      bytes_ += leaf.rows.bytes();
      leaf.resident = false;
      if (bytes_ <= bytes) break;
    }
  }
}

void RankIndex::Coarsen(size_t bytes) {
  for (size_t step = 0; step < blocks_.size() && bytes_ > bytes; ++step) {
    trim_hand_ = (trim_hand_ + 1) % blocks_.size();
    MergePairs(blocks_[trim_hand_]);
  }
}

void RankIndex::MergePairs(Block& block) {
  std::vector<Leaf> merged;
  bool takes_next = false;
  for (Leaf& leaf : block.leaves) {
    if (takes_next && !leaf.resident && merged.back().count + leaf.count <= kMostMergedRows) {
      bytes_ -= BytesOf(leaf);
      merged.back().count += leaf.count;
      takes_next = false;
      continue;
    }
    takes_next = !leaf.resident;
    merged.push_back(std::move(leaf));
  }
  block.leaves = std::move(merged);
}

RankIndexes::RankIndexes(Stripes& stripes, size_t capacity_bytes)
    : stripes_(stripes), by_stripe_(std::make_unique<std::vector<Slot>[]>(kStripeCount)), capacity_(capacity_bytes) {}

RankIndex* RankIndexes::Find(uint32_t stripe, Space space, CollectionId id) {
  for (Slot& slot : by_stripe_[stripe]) {
    if (slot.id == id && slot.space == space) return slot.index.get();
  }
  return nullptr;
}

RankIndex& RankIndexes::Create(uint32_t stripe, Space space, CollectionId id, uint64_t total,
                               RankIndex::Weights weights) {
  by_stripe_[stripe].push_back({space, id, std::make_unique<RankIndex>(total, weights)});
  RankIndex& index = *by_stripe_[stripe].back().index;
  bytes_.fetch_add(static_cast<int64_t>(index.bytes()), std::memory_order_relaxed);
  return index;
}

template <typename Which>
void RankIndexes::DropIf(uint32_t stripe, Which which) {
  std::erase_if(by_stripe_[stripe], [&](const Slot& slot) {
    if (!which(slot)) return false;
    bytes_.fetch_sub(static_cast<int64_t>(slot.index->bytes()), std::memory_order_relaxed);
    return true;
  });
}

void RankIndexes::Drop(uint32_t stripe, CollectionId id) {
  DropIf(stripe, [id](const Slot& slot) { return slot.id == id; });
}

void RankIndexes::DropAll(uint32_t stripe) {
  DropIf(stripe, [](const Slot&) { return true; });
}

void RankIndexes::TrimAll(uint32_t stripe) {
  for (const Slot& slot : by_stripe_[stripe]) {
    const size_t before = slot.index->bytes();
    slot.index->Trim(0);
    bytes_.fetch_sub(static_cast<int64_t>(before - slot.index->bytes()), std::memory_order_relaxed);
  }
}

template <typename Free>
void RankIndexes::FreeOthers(const Transaction* owner, Free free) {
  for (uint32_t step = 0; step < kStripeCount && is_over(); ++step) {
    const uint32_t stripe = hand_.fetch_add(1, std::memory_order_relaxed) % kStripeCount;
    if (!stripes_.TryLock(stripe, owner)) continue;
    free(stripe);
    stripes_.Unlock(stripe, owner);
  }
}

bool RankIndexes::MakeRoom(const Transaction* owner) {
  if (is_over()) FreeOthers(owner, [this](uint32_t stripe) { TrimAll(stripe); });
  if (is_over()) FreeOthers(owner, [this](uint32_t stripe) { DropAll(stripe); });
  return !is_over();
}

void RankIndexes::Charge(int64_t bytes, RankIndex& index, const Transaction* owner) {
  ChargeUnbounded(bytes);
  if (bytes <= 0 || MakeRoom(owner)) return;
  const auto capacity = static_cast<int64_t>(capacity_.load(std::memory_order_relaxed));
  const int64_t over = bytes_.load(std::memory_order_relaxed) - capacity;
  const size_t before = index.bytes();
  const auto target = static_cast<int64_t>(before) - over - capacity / 8;
  const size_t most = target > 0 ? static_cast<size_t>(target) : 0;
  index.Trim(most);
  if (index.is_divisible() && index.bytes() > most) index.Coarsen(most);
  bytes_.fetch_sub(static_cast<int64_t>(before - index.bytes()), std::memory_order_relaxed);
}

}  // namespace cairn
