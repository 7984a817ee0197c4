// SPDX-License-Identifier: BSD-3-Clause
//
// RankIndex: how many rows of a spread collection sort before a given one, and which one is the n-th.
//
// The rows are cut into leaves, each known by its lower bound and its count; leaves hang in blocks with counts of
// their own. A leaf may be resident: then it holds its rows, and neither reading nor popping from it touches
// RocksDB. A leaf of which only the count is known is read and cut up when it is asked about (storage/ranks.cc).
//
//   block [count 310]            block [count 1000000]
//   leaf ""  128  resident       leaf "q.." 1000000, never looked into yet
//   leaf "c" 182
//
// A leaf that was emptied stays, resident: it says that nothing is left to be read between its bounds, where
// RocksDB would have to step over every deleted row. Thus a queue's ends cost nothing to look at.
//
// It can be dropped at any time. RankIndexes keeps them by lock stripe; only the holder of the stripe uses and changes
// them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encoding/row_key.h"
#include "storage/packed_rows.h"
#include "storage/stripes.h"

namespace cairn {

class RankIndex {
 public:
  static constexpr size_t kLeafRows = 64;      // rows of a leaf when a larger one is cut up
  static constexpr size_t kMaxLeafRows = 128;  // a resident leaf is split beyond it

  // Whether each row counts as one, or counts as often as it was added: a list's chunk by its items. In the latter
  // case no leaf is ever resident.
  enum class Weights : unsigned char { kOne, kMany };

  struct Leaf {
    std::string first;  // lower bound; "" for the first leaf
    uint64_t count = 0;
    bool resident = false;
    PackedRows rows;  // when resident: all of them
  };
  // A leaf's place. Invalidated by every change of the index.
  struct Place {
    size_t block = 0;
    size_t leaf = 0;
    uint64_t before = 0;  // rows in all leaves before it
  };

  explicit RankIndex(uint64_t total, Weights weights = Weights::kOne);

  uint64_t count() const { return count_; }
  size_t bytes() const { return bytes_; }

  Place FindRow(std::string_view suffix) const;
  Place FindRank(uint64_t rank) const;  // REQUIRES: rank < count()
  const Leaf& At(const Place& place) const { return blocks_[place.block].leaves[place.leaf]; }
  // The lower bound of the leaf after it; null for the last one.
  const std::string* BoundAfter(const Place& place) const;
  bool Advance(Place& place) const;  // to the next leaf; false at the end

  // REQUIRES, both: n is 1, unless the weights are kMany. An index that is told of what cannot be, because it was made
  // from a state that did not last, is broken from then on.
  void Add(std::string_view suffix, uint64_t n = 1);
  void Remove(std::string_view suffix, uint64_t n = 1);
  // No collection will have its count, so nobody uses it again.
  void Break() { count_ = kBroken; }

  // Replaces the leaf by others that cover the same rows. REQUIRES: same total count, bounds ascending, the
  // first one's bound equal to the leaf's.
  void Replace(const Place& place, std::vector<Leaf> leaves);
  // Forgets rows of resident leaves, counts stay, until bytes() is at most `bytes` or none is left.
  void Trim(size_t bytes);

 private:
  struct Block {
    uint64_t count = 0;
    std::vector<Leaf> leaves;
  };
  // The counts of all blocks are added up to find a rank, and those of a block's leaves: about as many of each in a
  // collection of ten million rows.
  static constexpr size_t kMaxBlockLeaves = 256;

  static size_t BytesOf(const Leaf& leaf);
  void SplitLeaf(const Place& place);
  void SplitBlock(size_t block);
  // Makes one of neighbouring empty leaves. REQUIRES: the leaf is empty.
  void MergeEmpty(const Place& place);
  // The leaf before takes over the range. REQUIRES: it is empty and not the first.
  void DropLeaf(const Place& place);
  void Recount(Block& block);

  static constexpr uint64_t kBroken = UINT64_MAX;

  const Weights weights_;
  std::vector<Block> blocks_;
  uint64_t count_ = 0;
  size_t bytes_ = 0;
  size_t trim_hand_ = 0;
};

// All indexes, by the stripe of the key their collection belongs to.
class RankIndexes {
 public:
  RankIndexes(Stripes& stripes, size_t capacity_bytes);

  // REQUIRES, all three: the caller holds `stripe`.
  RankIndex* Find(uint32_t stripe, Space space, CollectionId id);
  RankIndex& Create(uint32_t stripe, Space space, CollectionId id, uint64_t total,
                    RankIndex::Weights weights = RankIndex::Weights::kOne);
  // Of the collection's indexes none is left.
  void Drop(uint32_t stripe, CollectionId id);
  void DropAll(uint32_t stripe);

  // Tells how an index has grown or shrunk; makes room when the capacity is passed: in other stripes that are free the
  // rows go, then the counts too, then rows within `index`. REQUIRES: `owner` holds the stripe of `index`.
  void Charge(int64_t bytes, RankIndex& index, const Transaction* owner);

  size_t bytes() const { return static_cast<size_t>(std::max<int64_t>(bytes_.load(std::memory_order_relaxed), 0)); }
  // What may still be charged before something has to go.
  size_t room() const {
    const size_t capacity = capacity_.load(std::memory_order_relaxed);
    return capacity - std::min(capacity, bytes());
  }
  void SetCapacity(size_t bytes) { capacity_.store(bytes, std::memory_order_relaxed); }

 private:
  struct Slot {
    Space space;
    CollectionId id;
    std::unique_ptr<RankIndex> index;
  };
  template <typename Which>
  void DropIf(uint32_t stripe, Which which);
  // Drops the rows that indexes hold.
  void TrimAll(uint32_t stripe);
  bool is_over() const { return bytes() > capacity_.load(std::memory_order_relaxed); }
  // Makes room in other stripes. False: there still is none.
  bool MakeRoom(const Transaction* owner);
  // Calls free(stripe) with one free stripe after the other until enough is free or all had their turn.
  template <typename Free>
  void FreeOthers(const Transaction* owner, Free free);

  Stripes& stripes_;
  std::unique_ptr<std::vector<Slot>[]> by_stripe_;
  std::atomic<int64_t> bytes_{0};
  std::atomic<size_t> capacity_;
  std::atomic<uint32_t> hand_{0};
};

}  // namespace cairn
