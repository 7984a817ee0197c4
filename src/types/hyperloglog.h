// SPDX-License-Identifier: BSD-3-Clause
//
// HyperLogLog: estimates how many distinct elements were added, from 16384 small registers.
//
// The value is a string in Redis's own format, so GET and SET can copy it between the two servers:
//
//   "HYLL"  encoding (1)  zeros (3)  cached count (8, little endian)  registers
//
// The lower 14 bits of an element's hash select a register. The register keeps the longest run of zeros seen in the
// bits behind those, plus one. The cached count's highest bit marks it as out of date. Registers have two encodings:
//
//   dense   6 bits each, from the lowest bit of the first byte up; 12288 bytes
//   sparse  runs of equal registers, while all are 32 at most and the whole stays short
//             00nnnnnn            zero: n+1 registers are 0
//             01nnnnnn nnnnnnnn   xzero: the same for more of them
//             1vvvvvnn            value: n+1 registers are v+1
//
// A sparse value that grows beyond its limit becomes dense, never the other way. The count is estimated as in O. Ertl,
// "New cardinality estimation algorithms for HyperLogLog sketches", arXiv:1702.01284.
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

// The estimate from the merged registers of one or more values.
uint64_t EstimateCount(const HllRegisters& registers);

class HyperLogLog {
 public:
  enum class Change : uint8_t { kNone, kRaised, kCorrupt };

  // The largest value: a sparse one with its header and an opcode of two bytes for each register.
  static constexpr size_t kMostBytes = 16 + 2 * kHllRegisters;

  // Makes an empty, sparse value.
  HyperLogLog();
  // Returns nullopt unless the bytes begin like a HyperLogLog. Sparse registers may still turn out to be corrupt.
  static std::optional<HyperLogLog> Parse(std::string_view bytes);

  const std::string& bytes() const { return bytes_; }
  bool IsDense() const;

  // Adds an element. If the value would exceed `sparse_max` bytes, it becomes dense.
  Change Add(std::string_view element, uint64_t sparse_max);
  // Raises one register to `value` if it is lower. REQUIRES: index < kHllRegisters.
  Change Raise(size_t index, uint8_t value, uint64_t sparse_max);
  // Returns false if the sparse registers are corrupt.
  bool MakeDense();

  // The cached count; nullopt if it is out of date.
  std::optional<uint64_t> CachedCount() const;
  void CacheCount(uint64_t count);
  void DropCachedCount();
  // The estimate; nullopt if the registers are corrupt.
  std::optional<uint64_t> Count() const;

  // Raises each of `registers` to this value's if it is lower. Returns false if this value's registers are corrupt.
  bool MergeInto(HllRegisters& registers) const;
  // Describes the sparse runs as text: "Z:100 v:3,1 z:5 ...". REQUIRES: !IsDense().
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
