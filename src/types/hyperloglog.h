// SPDX-License-Identifier: BSD-3-Clause
//
// HyperLogLog: about how many different elements were added, from 16384 small counters.
//
// The value is a string in Redis's own format, so that it can be copied between the two with GET and SET:
//
//   "HYLL"  encoding (1)  zeros (3)  cached count (8, little endian)  registers
//
// An element's hash picks a register with its lower 14 bits; the register keeps the longest run of zeros seen behind
// those, plus one. The highest bit of the cached count says that it is out of date. Registers come in two encodings:
//
//   dense   6 bits each, from the lowest bit of the first byte up; 12288 bytes
//   sparse  runs of equal registers, while all are 32 at most and the whole stays short
//             00nnnnnn            zero: n+1 registers are 0
//             01nnnnnn nnnnnnnn   xzero: the same for more of them
//             1vvvvvnn            value: n+1 registers are v+1
//
// A sparse value that has to become longer than it may is made dense, never the other way. The count is estimated as
// in O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", arXiv:1702.01284.
//
// Thread: any; plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cairn {

inline constexpr size_t kHllRegisters = 16384;

// One byte per register, for merging.
using HllRegisters = std::array<uint8_t, kHllRegisters>;

// The estimate from registers of any number of values merged.
uint64_t EstimateCount(const HllRegisters& registers);

class HyperLogLog {
 public:
  enum class Change : uint8_t { kNone, kRaised, kCorrupt };

  // Empty, sparse.
  HyperLogLog();
  // None unless the bytes begin as a HyperLogLog does. Sparse registers may still prove corrupt.
  static std::optional<HyperLogLog> Parse(std::string_view bytes);

  const std::string& bytes() const { return bytes_; }
  bool IsDense() const;

  // Counts an element in. Beyond `sparse_max` bytes the value becomes dense.
  Change Add(std::string_view element, uint64_t sparse_max);
  // Raises one register to `value` if it is lower. REQUIRES: index < kHllRegisters.
  Change Raise(size_t index, uint8_t value, uint64_t sparse_max);
  // False when the sparse registers are corrupt.
  bool MakeDense();

  // The count as it was cached; none when it is out of date.
  std::optional<uint64_t> CachedCount() const;
  void CacheCount(uint64_t count);
  void DropCachedCount();
  // The estimate; none when the registers are corrupt.
  std::optional<uint64_t> Count() const;

  // Raises `registers` to this value's where they are lower. False when these are corrupt.
  bool MergeInto(HllRegisters& registers) const;
  // The sparse runs in words: "Z:100 v:3,1 z:5 ...". REQUIRES: !IsDense().
  std::string DescribeRuns() const;

 private:
  struct Run;
  struct Place;
  explicit HyperLogLog(std::string bytes) : bytes_(std::move(bytes)) {}

  Run RunAt(size_t at) const;
  std::optional<Place> FindRun(size_t index) const;
  Change RaiseSparse(size_t index, uint8_t value, uint64_t sparse_max);
  Change RaiseDense(size_t index, uint8_t value);
  void JoinValues(size_t from);

  std::string bytes_;
};

}  // namespace cairn
