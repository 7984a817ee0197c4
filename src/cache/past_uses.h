// SPDX-License-Identifier: BSD-3-Clause
//
// PastUses: when rows that left the key cache were last used, for evictions by age (`max-data-size`). Without it, all
// rows outside of the cache look equally old, and a cache on disk forgets rows that are used often but not often enough
// for memory (docs/decisions/max-data-size.md).
//
// It is a table of sets of four rows. A row is two bytes: eight bits of its hash, and its period. A new row takes the
// place of the oldest in its set, so the table has about the rows that left last. In a period a 32nd of the table's
// rows leave; what is older than 180 periods is forgotten. Rows with the same bits in a set share a place, so one row
// in 64 appears younger than it is.
//
// Thread: the caller's lock protects it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cairn {

class PastUses {
 public:
  // A table of at most `bytes`. REQUIRES: bytes >= 64
  explicit PastUses(size_t bytes);

  // A row with this hash, last used at `used_s` (Unix time), leaves the cache.
  void Note(uint64_t hash, int64_t used_s);
  // When the row was last used, to the accuracy of a period: never later than it was. Nothing: long ago.
  std::optional<int64_t> Find(uint64_t hash) const;

  size_t bytes() const { return sets_.size() * sizeof(sets_[0]); }

 private:
  static constexpr int kRowsPerSet = 4;
  static constexpr int kPeriods = 256;  // 0: the place is empty

  struct Row {
    uint8_t bits = 0;
    uint8_t period = 0;
  };
  using Set = std::array<Row, kRowsPerSet>;

  size_t SetOf(uint64_t hash) const;
  // How many periods ago; kPeriods for an empty place.
  int AgeOf(uint8_t period) const;
  // The latest period that had begun at this time.
  uint8_t PeriodAt(int64_t used_s) const;
  void BeginPeriod();

  std::vector<Set> sets_;
  std::array<int64_t, kPeriods> begins_s_{};  // of each period
  uint8_t period_ = 1;
  int64_t newest_s_ = 0;  // of all times noted
  size_t noted_ = 0;      // in this period
  size_t swept_ = 0;      // the next set to be swept
};

}  // namespace cairn
