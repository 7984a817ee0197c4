// SPDX-License-Identifier: BSD-3-Clause
//
// RankIndex: counts the rows of a spread collection that sort before a given row, and finds the n-th row.
//
// The rows are divided into leaves, each with its lower bound and its count; leaves are grouped into blocks, which
// have counts too. A resident leaf holds its rows: reading or popping from it does not touch RocksDB. A leaf of which
// only the count is known is read and split when it is asked for (storage/ranks.cc).
//
//   block [count 310]            block [count 1000000]
//   leaf ""  128  resident       leaf "q.." 1000000, never read yet
//   leaf "c" 182
//
// An emptied leaf stays, resident: it proves that no row is left between its bounds, where RocksDB would have to step
// over every deleted row. So reading the ends of a queue costs nothing.
//
// An index can be dropped at any time. RankIndexes keeps them by lock stripe; only its holder uses and changes them.
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
  static constexpr size_t kLeafRows = 64;      // rows per leaf when a larger one is split
  static constexpr size_t kMaxLeafRows = 128;  // a resident leaf with more rows is split

  // kOne: each row counts once. kMany: a row counts as often as it was added, as a list's chunk does for its items;
  // then no leaf is ever resident.
  enum class Weights : unsigned char { kOne, kMany };

  struct Leaf {
    std::string first;  // lower bound; "" for the first leaf
    uint64_t count = 0;
    bool resident = false;
    PackedRows rows;  // if resident: all rows of the leaf
  };
  // The position of a leaf. Every change of the index invalidates it.
  struct Place {
    size_t block = 0;
    size_t leaf = 0;
    uint64_t before = 0;  // rows in all leaves before it
  };

  explicit RankIndex(uint64_t total, Weights weights = Weights::kOne);

  uint64_t count() const { return count_; }
  size_t bytes() const { return bytes_; }
  // Whether its leaves are read and divided when they are asked for.
  bool is_divisible() const { return weights_ == Weights::kOne; }

  Place FindRow(std::string_view suffix) const;
  Place FindRank(uint64_t rank) const;  // REQUIRES: rank < count()
  const Leaf& At(const Place& place) const { return blocks_[place.block].leaves[place.leaf]; }
  // The lower bound of the next leaf; null for the last leaf.
  const std::string* BoundAfter(const Place& place) const;
  bool Advance(Place& place) const;  // to the next leaf; false at the end

  // REQUIRES for both: n is 1, unless the weights are kMany. An impossible change (the index was made from a state
  // that was rolled back) breaks the index for good.
  void Add(std::string_view suffix, uint64_t n = 1);
  void Remove(std::string_view suffix, uint64_t n = 1);
  // Marks the index as unusable: no collection has this count.
  void Break() { count_ = kBroken; }

  // Replaces the leaf by `leaves`, which cover the same rows. REQUIRES: same total count, ascending bounds, the first
  // bound equal to the leaf's.
  void Replace(const Place& place, std::vector<Leaf> leaves);
  // Drops rows of resident leaves, but not counts, until bytes() is at most `bytes` or no leaf is resident.
  void Trim(size_t bytes);
  // Merges leaves that are not resident, two and two, until bytes() is at most `bytes` or all were tried. The rows of a
  // merged leaf are counted again when it is asked for. REQUIRES: the weights are kOne.
  void Coarsen(size_t bytes);

 private:
  struct Block {
    uint64_t count = 0;
    std::vector<Leaf> leaves;
  };
  // To find a rank, the counts of all blocks and then of one block's leaves are summed: about as many of each in a
  // collection of ten million rows.
  static constexpr size_t kMaxBlockLeaves = 256;

  static size_t BytesOf(const Leaf& leaf);
  void SplitLeaf(const Place& place);
  void SplitBlock(size_t block);
  void MergePairs(Block& block);
  // Merges neighbouring empty leaves into one. REQUIRES: the leaf is empty.
  void MergeEmpty(const Place& place);
  // Drops the leaf and extends the one before it. REQUIRES: the leaf is empty and not the first.
  void DropLeaf(const Place& place);
  void Recount(Block& block);

  static constexpr uint64_t kBroken = UINT64_MAX;

  const Weights weights_;
  std::vector<Block> blocks_;
  uint64_t count_ = 0;
  size_t bytes_ = 0;
  size_t trim_hand_ = 0;
};

// All rank indexes, by the stripe of the collection's key.
class RankIndexes {
 public:
  RankIndexes(Stripes& stripes, size_t capacity_bytes);

  // REQUIRES for all of Find, Create, Drop: the caller holds `stripe`.
  RankIndex* Find(uint32_t stripe, Space space, CollectionId id);
  RankIndex& Create(uint32_t stripe, Space space, CollectionId id, uint64_t total,
                    RankIndex::Weights weights = RankIndex::Weights::kOne);
  // Drops all indexes of the collection.
  void Drop(uint32_t stripe, CollectionId id);
  void DropAll(uint32_t stripe);

  // Counts a change in the size of an index. Above the capacity it frees memory: rows and then whole indexes of other,
  // free stripes, at last rows and leaves of `index`. REQUIRES: `owner` holds the stripe of `index`.
  void Charge(int64_t bytes, RankIndex& index, const Transaction* owner);
  // The same without freeing memory.
  void ChargeUnbounded(int64_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }

  size_t bytes() const { return static_cast<size_t>(std::max<int64_t>(bytes_.load(std::memory_order_relaxed), 0)); }
  // Bytes that can be charged before memory must be freed.
  size_t room() const {
    const size_t capacity = capacity_.load(std::memory_order_relaxed);
    return capacity - std::min(capacity, bytes());
  }
  size_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
  void SetCapacity(size_t bytes) { capacity_.store(bytes, std::memory_order_relaxed); }

 private:
  struct Slot {
    Space space;
    CollectionId id;
    std::unique_ptr<RankIndex> index;
  };
  template <typename Which>
  void DropIf(uint32_t stripe, Which which);
  // Drops the rows that the stripe's indexes hold.
  void TrimAll(uint32_t stripe);
  bool is_over() const { return bytes() > capacity_.load(std::memory_order_relaxed); }
  // Frees memory in other stripes. False: still above the capacity.
  bool MakeRoom(const Transaction* owner);
  // Calls free(stripe) for one free stripe after the other until enough is freed or all were tried.
  template <typename Free>
  void FreeOthers(const Transaction* owner, Free free);

  Stripes& stripes_;
  std::unique_ptr<std::vector<Slot>[]> by_stripe_;
  std::atomic<int64_t> bytes_{0};
  std::atomic<size_t> capacity_;
  std::atomic<uint32_t> hand_{0};
};

}  // namespace cairn
