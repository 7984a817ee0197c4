// SPDX-License-Identifier: BSD-3-Clause
//
// CachedRow: a row in the key cache. Its tagged key and its value are in one block of memory.
//
// A thread with a reference may read key and value, and may read and write the use statistics, in any order.
// Everything else belongs to the row's shard: the links, and the value while only the shard has a reference.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

namespace cairn {

struct CachedRow {
  static constexpr uint8_t kMostUses = 3;

  const uint64_t hash;  // of the tagged key (Overlay::HashOf)
  // Neighbours in the shard's queue (row_queue.h).
  CachedRow* older = nullptr;
  CachedRow* newer = nullptr;
  std::atomic<uint32_t> references{1};  // the shard's, and one for each pin
  std::atomic<uint32_t> used_s;         // Unix time of the last use
  const uint32_t key_size;
  uint32_t value_size;
  std::atomic<uint8_t> uses{0};       // since an eviction last skipped it, at most kMostUses
  std::atomic<uint8_t> frequency{0};  // frequency of use, while uses are counted
  bool is_kept = false;               // the queue it is in: kept or young
  char bytes[];                       // the key, then the value

  // Makes a row with one reference. Throws std::bad_alloc.
  static CachedRow* New(std::string_view tagged, uint64_t hash, std::string_view value, int64_t used_s,
                        uint8_t frequency) {
    void* const memory = std::malloc(MemoryOf(tagged.size(), value.size()));
    if (memory == nullptr) throw std::bad_alloc();
    auto* row = new (memory) CachedRow(tagged, hash, used_s, frequency);
    row->SetValue(value);
    return row;
  }
  static void Delete(CachedRow* row) {
    row->~CachedRow();
    std::free(row);
  }

  std::string_view tagged() const { return {bytes, key_size}; }
  std::string_view value() const { return {bytes + key_size, value_size}; }
  // Bytes taken from the allocator, which has four sizes for each power of two (jemalloc(3), "size classes").
  size_t memory() const { return MemoryOf(key_size, value_size); }
  static size_t MemoryOf(size_t key_size, size_t value_size) {
    const size_t size = offsetof(CachedRow, bytes) + key_size + value_size;
    const size_t step = size <= 128 ? 16 : std::bit_floor(size - 1) / 4;
    return (size + step - 1) / step * step;
  }

  // REQUIRES: only the shard has a reference, and memory() does not change.
  void SetValue(std::string_view value) {
    value_size = static_cast<uint32_t>(value.size());
    if (!value.empty()) std::memcpy(bytes + key_size, value.data(), value.size());
  }
  // REQUIRES: the shard's lock. No thread can pin the row meanwhile, so "not pinned" stays true.
  bool IsPinned() const { return references.load(std::memory_order_acquire) > 1; }

 private:
  CachedRow(std::string_view tagged, uint64_t row_hash, int64_t used, uint8_t row_frequency)
      : hash(row_hash), used_s(static_cast<uint32_t>(used)), key_size(static_cast<uint32_t>(tagged.size())),
        value_size(0), frequency(row_frequency) {
    std::memcpy(bytes, tagged.data(), tagged.size());
  }
};

}  // namespace cairn
