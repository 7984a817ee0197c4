// SPDX-License-Identifier: BSD-3-Clause
//
// CuckooShape: the counts and sizes of a cuckoo filter, without its buckets.
//
// A cuckoo filter stores a fingerprint of one byte, 1 to 255, for each item, in one of the two buckets that the item's
// hash names; 0 is a free slot. Growth adds a sub-filter, which has `expansion` times the buckets of the one before.
// Sizes, fingerprints and buckets are those of RedisBloom, so CF.SCANDUMP's header and chunks can be exchanged. The
// slots of all sub-filters form one sequence of bytes (types/filter_bytes.h), sub-filter after sub-filter, bucket after
// bucket.
//
// Thread: any; values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn {

// The limits of RedisBloom.
inline constexpr uint64_t kMostCuckooBucketSize = 255;
inline constexpr uint64_t kMostCuckooIterations = 65535;
inline constexpr uint64_t kMostCuckooExpansion = 32768;
// Growth by a command and CF.LOADCHUNK end here, because each item of a command looks at all sub-filters. RedisBloom
// goes on to 65,535; records with more are read.
inline constexpr uint64_t kMostGrownFilters = 1024;

// An item's fingerprint and the hashes that its two buckets follow from.
struct CuckooHash {
  uint64_t first = 0;
  uint64_t second = 0;
  uint8_t fingerprint = 0;
};
CuckooHash HashCuckooItem(std::string_view item);
// The other hash of an item with this fingerprint.
inline uint64_t OtherCuckooHash(uint8_t fingerprint, uint64_t hash) {
  return hash ^ uint64_t { fingerprint } * 0x5bd1e995;
}

struct CuckooShape {
  uint64_t buckets = 0;  // of the first sub-filter
  uint64_t items = 0;
  uint64_t deletes = 0;  // items deleted since the last compaction
  uint64_t filters = 1;
  uint64_t bucket_size = 0;
  uint64_t max_iterations = 0;
  uint64_t expansion = 0;  // 0: the filter never grows

  // The shape of a new filter. REQUIRES: the arguments are within RedisBloom's limits
  static CuckooShape Make(uint64_t capacity, uint64_t bucket_size, uint64_t max_iterations, uint64_t expansion);

  // REQUIRES for these: IsSound()
  uint64_t BucketsOf(uint64_t filter) const;
  uint64_t BytesOf(uint64_t filter) const { return BucketsOf(filter) * bucket_size; }
  uint64_t bytes() const;
  // The memory that RedisBloom would need; CF.INFO shows it.
  uint64_t memory_bytes() const;

  // Whether all values are within the limits.
  bool IsSound() const;

  // The header in records and RDB files (docs/format.md, section 5.6).
  std::string Encode() const;
  // Takes the header from the front of `in`.
  static Result<CuckooShape> Decode(std::string_view& in);
  // The header that CF.SCANDUMP returns first.
  std::string EncodeDump() const;
  // REQUIRES: bytes.size() == kDumpBytes. None if a value is out of range, or above kMostGrownFilters.
  static std::optional<CuckooShape> DecodeDump(std::string_view bytes);
  static constexpr size_t kDumpBytes = 38;
};

}  // namespace cairn
