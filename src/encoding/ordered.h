// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers whose bytes sort as the numbers do (docs/format.md, section 1).
//
//   ordered i64      the two's complement bits with the sign bit flipped, u64 big-endian
//   ordered double   IEEE 754 bits; a positive number gets its sign bit set, a negative one all bits
//                    flipped; u64 big-endian. -0.0 is stored as 0.0. NaN is not allowed.
//
// Example: double 1.0 = bf f0 00 00 00 00 00 00; -1.0 = 40 0f ff ff ff ff ff ff.
#pragma once

#include <bit>
#include <cstdint>

namespace cairn {

inline uint64_t OrderedFromInt64(int64_t value) { return static_cast<uint64_t>(value) ^ (1ull << 63); }

inline int64_t Int64FromOrdered(uint64_t ordered) { return static_cast<int64_t>(ordered ^ (1ull << 63)); }

inline uint64_t OrderedFromDouble(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value == 0 ? 0.0 : value);
  return bits >> 63 ? ~bits : bits | (1ull << 63);
}

inline double DoubleFromOrdered(uint64_t ordered) {
  return std::bit_cast<double>(ordered >> 63 ? ordered & ~(1ull << 63) : ~ordered);
}

}  // namespace cairn
