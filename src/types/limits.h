// SPDX-License-Identifier: BSD-3-Clause
//
// Limits: the sizes up to which collections stay packed, and the largest string. The names are redis.conf's. They can
// be changed while the server runs, so every field is atomic and is read at each use.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace cairn {

// The limits that decide whether a value that is stored as a whole is packed.
enum class PackRule : unsigned char {
  kAllLimits,  // as if its elements had been added one by one
  kCountOnly,  // only the number of elements, not their length: the source had it packed
};

struct Limits {
  std::atomic<int64_t> hash_max_listpack_entries{512};
  std::atomic<int64_t> hash_max_listpack_value{64};  // bytes
  std::atomic<int64_t> set_max_intset_entries{512};
  std::atomic<int64_t> set_max_listpack_entries{128};
  std::atomic<int64_t> set_max_listpack_value{64};  // bytes
  std::atomic<int64_t> zset_max_listpack_entries{128};
  std::atomic<int64_t> zset_max_listpack_value{64};   // bytes
  std::atomic<int64_t> list_max_listpack_size{-2};    // entries, or -1..-5: 4, 8, 16, 32, 64 KB
  std::atomic<int64_t> stream_node_max_bytes{4096};   // per chunk; 0: only our own limit
  std::atomic<int64_t> stream_node_max_entries{100};  // per chunk; 0: only our own limit
  std::atomic<int64_t> stream_idmp_duration_s{100};   // of a stream that starts to keep ids of producers
  std::atomic<int64_t> stream_idmp_maxsize{100};      // ids of each of its producers
  std::atomic<int64_t> hll_sparse_max_bytes{3000};    // a larger HyperLogLog becomes dense
  std::atomic<int64_t> packed_max_bytes{128 * 1024};  // no packed value is larger, whatever the limits above
  // A hash or set beyond a limit of entries or of an element's length stays packed up to this size.
  std::atomic<int64_t> packed_large_max_bytes{12 * 1024};
  std::atomic<int64_t> proto_max_bulk_len{512 * 1024 * 1024};
  // The memory that a command may use for its changes and for elements that it collects, besides 16 times the bytes of
  // its request. The server sets it to CommandShareOf its budget.
  std::atomic<int64_t> command_max_memory{INT64_MAX};
  // The memory of one parsed document, in bytes. The server sets it to Json::ShareOf its budget.
  std::atomic<int64_t> json_max_memory{INT64_MAX};
  std::atomic<bool> skips_payload_checksums{false};  // RESTORE skips the checksum (DEBUG)
};

// The part of `budget` that a command may use, in bytes.
constexpr uint64_t CommandShareOf(uint64_t budget) { return std::max(budget / 4, uint64_t{16} << 20); }

// The current value of one of Limits; a negative one reads as zero.
inline uint64_t ReadLimit(const std::atomic<int64_t>& limit) {
  const int64_t value = limit.load(std::memory_order_relaxed);
  return value < 0 ? 0 : static_cast<uint64_t>(value);
}

// The most bytes of a packed hash, set or sorted set of `count` elements. `is_large`: it exceeds, or once exceeded, a
// limit of entries or of an element's length. Redis then uses its large encoding, and the record says "grown"
// (docs/format.md, section 3). Such a collection is packed for the sake of small elements, whose rows would be larger
// than they are; long elements are cheaper to change in rows of their own, and so is one of very many
// (docs/decisions/disk-size.md).
inline uint64_t MostPackedBytes(const Limits& limits, bool is_large, uint64_t count) {
  constexpr uint64_t kMostElements = 1024;
  constexpr uint64_t kFewBytes = 1024;
  constexpr uint64_t kBytesPerElement = 32;
  const uint64_t most = ReadLimit(limits.packed_max_bytes);
  if (!is_large) return most;
  if (count > kMostElements) return 0;
  return std::min({most, ReadLimit(limits.packed_large_max_bytes), kFewBytes + kBytesPerElement * count});
}

}  // namespace cairn
