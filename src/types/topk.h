// SPDX-License-Identifier: BSD-3-Clause
//
// TopK: a key's Top-K sketch, which keeps the k items that were added most often: HeavyKeeper (Gong et al., 2018) in
// the form of RedisBloom.
//
// It has `depth` rows of `width` cells, and an item has one cell in each row, at its MurmurHash2 with the row's number
// as the seed. A cell has the fingerprint of one item and a counter. An item that meets another one's cell lowers the
// counter with a probability that falls exponentially with the counter, and takes the cell over when it reaches 0. The
// highest counter of an item is its count. A heap keeps the k highest.
//
// The random numbers come from a generator whose state is part of the value. So a command has the same result on a
// replica, and is replicated as the client sent it (docs/decisions/topk-random.md).
//
// Thread: that of the transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "types/keyspace.h"
#include "types/sketch_cells.h"

namespace cairn {

class TopK {
 public:
  struct Slot {
    std::optional<std::string> item;  // none: the slot is free, and its count is 0
    uint32_t count = 0;
  };

  // The fields of the record before the cells.
  struct State {
    uint64_t width = 0;
    uint64_t depth = 0;
    double decay = 0;
    uint64_t random = 0;     // the generator's state
    std::vector<Slot> heap;  // k slots, a heap with the lowest count first
    uint64_t bytes() const { return width * depth * kCellBytes; }
  };
  static constexpr uint64_t kCellBytes = 8;
  // A sketch that keeps more items is refused: every change searches them all and may rewrite them.
  static constexpr uint64_t kMostItems = 65'536;

  // Whether a sketch of these dimensions can be stored.
  static bool Fits(uint64_t k, uint64_t width, uint64_t depth);
  // Removes the fields from the front of `bytes`.
  static Result<State> TakeState(std::string_view& bytes);
  // Whether a record's payload decodes. kCorruption says what does not.
  static Status Check(const Record& record);

  // `key` must outlive this object.
  TopK(Keyspace& keys, const Key& key) : keys_(keys), key_(key) {}
  // Opens the key; WRONGTYPE if it has a value of another type.
  Status Open();
  Status Open(KeyEntry entry);
  bool exists() const { return cells_.has_value(); }
  // Starts a sketch; Save stores it. REQUIRES: !exists(), and it fits
  void Create(State state);

  // REQUIRES: exists(), for all of the following
  const State& state() const { return state_; }
  std::string Fields() const;
  SketchCells& cells() { return *cells_; }

  // Adds an item `by` times, and returns the item that it expelled from the heap.
  Result<std::optional<std::string>> Add(std::string_view item, uint32_t by);
  // Whether the item is among the k.
  Result<bool> Contains(std::string_view item) const;
  // The count of an item, whether or not it is among the k.
  Result<uint32_t> Count(std::string_view item) const;
  // The slots with a count, the highest first.
  std::vector<Slot> List() const;

  // Stores the sketch and keeps the expiry. Returns whether anything changed.
  Result<bool> Save();

 private:
  struct Cell {
    uint32_t fingerprint = 0;
    uint32_t count = 0;
  };
  uint64_t OffsetOf(std::string_view item, uint64_t row) const;
  Result<Cell> ReadCell(uint64_t offset) const;
  Status WriteCell(uint64_t offset, const Cell& cell);
  bool Happens(double chance);
  void Contend(Cell& cell, uint32_t fingerprint, uint32_t by);
  size_t FindSlot(std::string_view item) const;
  size_t LowerChild(size_t parent) const;
  void SiftDown(size_t at);

  Keyspace& keys_;
  const Key& key_;
  KeyEntry entry_;
  State state_;
  std::optional<SketchCells> cells_;  // none: the key does not exist
  bool changed_cells_ = false;
};

}  // namespace cairn
