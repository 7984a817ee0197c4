// SPDX-License-Identifier: BSD-3-Clause
//
// CountMin: a key's count-min sketch, which estimates how often each item was added (Cormode and Muthukrishnan 2005).
//
// It has `depth` rows of `width` counters of 32 bits. An item has one counter in each row, at its MurmurHash2 with the
// row's number as the seed, and its estimate is the lowest of them. These are RedisBloom's hashes, so both servers give
// the same estimates. A counter that exceeds 32 bits stays at the maximum.
//
//   CountMin sketch(keys, key);
//   TRY(sketch.Open());
//   const uint32_t estimate = TRY(sketch.Add("item", 5));
//   TRY(sketch.Save());
//
// Thread: that of the transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "types/keyspace.h"
#include "types/sketch_cells.h"

namespace cairn {

class CountMin {
 public:
  // The fields of the record before the cells.
  struct Shape {
    uint64_t width = 0;
    uint64_t depth = 0;
    uint64_t count = 0;  // the sum of all increments
    uint64_t bytes() const { return width * depth * sizeof(uint32_t); }
  };
  // Whether a sketch of these dimensions can be stored.
  static bool Fits(uint64_t width, uint64_t depth);
  // Removes the fields from the front of `bytes`.
  static Result<Shape> TakeShape(std::string_view& bytes);

  // Whether a record's payload decodes. kCorruption says what does not.
  static Status Check(const Record& record);

  // `key` must outlive this object.
  CountMin(Keyspace& keys, const Key& key) : keys_(keys), key_(key) {}
  // Opens the key; WRONGTYPE if it has a value of another type.
  Status Open();
  Status Open(KeyEntry entry);
  bool exists() const { return cells_.has_value(); }
  // Starts an empty sketch; Save stores it. REQUIRES: !exists(), Fits(width, depth)
  void Create(const Shape& shape);

  // REQUIRES: exists(), for all of the following
  const Shape& shape() const { return shape_; }
  std::string Fields() const;
  SketchCells& cells() { return *cells_; }

  // Adds `by` to the counters of an item, and returns the item's estimate.
  Result<uint32_t> Add(std::string_view item, uint64_t by);
  Result<uint32_t> Estimate(std::string_view item) const;

  struct Weighted {
    const CountMin* sketch;
    int64_t weight;
  };
  // Replaces all counters with the weighted sums of those of `sources`, which may include this sketch. Returns whether
  // anything changed. An error, also in the middle, if a sum is out of range. REQUIRES: all have the same dimensions.
  Result<bool> Merge(std::span<const Weighted> sources);

  // Stores the sketch and keeps the expiry.
  Status Save();

 private:
  uint64_t CellOf(std::string_view item, uint64_t row) const;

  Keyspace& keys_;
  const Key& key_;
  KeyEntry entry_;
  Shape shape_;
  std::optional<SketchCells> cells_;  // none: the key does not exist
};

}  // namespace cairn
