// SPDX-License-Identifier: BSD-3-Clause
//
// Limits: up to where a collection stays packed, and how large a string may grow. redis.conf's names; settable
// while the server runs, so every field is atomic and read where it is used.
#pragma once

#include <atomic>
#include <cstdint>

namespace cairn {

// Which of the limits decide whether a value that is stored whole is packed.
enum class PackRule : unsigned char {
  kAllLimits,  // as if it had grown from nothing
  kCountOnly,  // the number of elements, however long they are: it was packed where it comes from
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
  std::atomic<int64_t> stream_node_max_bytes{4096};   // of a chunk; 0: no limit but our own
  std::atomic<int64_t> stream_node_max_entries{100};  // of a chunk; 0: the same
  std::atomic<int64_t> hll_sparse_max_bytes{3000};    // of a HyperLogLog; beyond it is dense
  std::atomic<int64_t> packed_max_bytes{128 * 1024};  // whatever the limits above say, a packed value ends here
  std::atomic<int64_t> proto_max_bulk_len{512 * 1024 * 1024};
  std::atomic<bool> skips_payload_checksums{false};  // RESTORE takes damaged payloads too (DEBUG)
};

}  // namespace cairn
