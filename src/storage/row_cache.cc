// SPDX-License-Identifier: BSD-3-Clause
#include "storage/row_cache.h"

#include <rocksdb/cache.h>

#include <atomic>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/clock.h"
#include "base/hash.h"
#include "base/random.h"
#include "storage/slice.h"

namespace cairn {
namespace {

// Two thirds above the midpoint: enough below it for a new row to be asked for twice.
constexpr double kHotShare = 0.67;
constexpr size_t kShards = 64;
constexpr size_t kAllocatorOverhead = 16;
// What the cache itself adds to a row, at the most: its handle with the key, rounded up by the allocator.
constexpr size_t kHandleBytes = 128;
// A row larger than this part of a shard would push out too much for one look-up saved.
constexpr size_t kMostOfShard = 8;

size_t MostCharged(size_t key_size, size_t value_size) {
  return kHandleBytes + 2 * key_size + value_size;
}

}  // namespace

struct CachedRow {
  std::atomic<size_t>* held;      // of its shard
  std::atomic<uint32_t> used_s;  // when it was last used
  std::atomic<bool> hot;
  std::atomic<uint8_t> frequency;  // of use, while uses are counted
  uint32_t size;
  char bytes[];

  static CachedRow* New(std::atomic<size_t>* held, std::string_view value, bool hot, int64_t used_s) {
    void* memory = std::malloc(sizeof(CachedRow) + value.size());
    if (memory == nullptr) throw std::bad_alloc();
    auto* row = new (memory) CachedRow{held, static_cast<uint32_t>(used_s), hot, RowCache::kNewFrequency,
                                       static_cast<uint32_t>(value.size())};
    std::memcpy(row->bytes, value.data(), value.size());
    return row;
  }
  static void Delete(const rocksdb::Slice& tagged, void* memory) {
    auto* row = static_cast<CachedRow*>(memory);
    row->held->fetch_sub(MostCharged(tagged.size(), row->size), std::memory_order_relaxed);
    std::free(row);
  }
};

namespace {

// Uses after which the count rises from 6, 7, 8 ...: each time this many more.
constexpr uint32_t kFrequencyLogFactor = 10;
constexpr int64_t kFrequencyDecaySeconds = 60;

uint8_t DecayedFrequency(const CachedRow& row, int64_t now_s) {
  const uint8_t frequency = row.frequency.load(std::memory_order_relaxed);
  const int64_t used_s = row.used_s.load(std::memory_order_relaxed);
  if (used_s == RowCache::kUnknownUse || now_s <= used_s) return frequency;
  return static_cast<uint8_t>(frequency - std::min<int64_t>((now_s - used_s) / kFrequencyDecaySeconds, frequency));
}

// One use more: the higher the count, the rarer it rises.
uint8_t RaisedFrequency(uint8_t frequency) {
  if (frequency == UINT8_MAX) return frequency;
  thread_local Random random(static_cast<uint64_t>(MonotonicUs()));
  const uint32_t above = frequency > RowCache::kNewFrequency ? frequency - RowCache::kNewFrequency : 0;
  return frequency + (random.Below(above * kFrequencyLogFactor + 1) == 0);
}

size_t Charge(std::string_view value) { return sizeof(CachedRow) + value.size() + kAllocatorOverhead; }

}  // namespace

void RowRef::Release() { cache_->Release(static_cast<rocksdb::Cache::Handle*>(handle_)); }

RowCache::RowCache(size_t capacity_bytes)
    : shards_(kShards), capacity_(capacity_bytes), created_s_(WallMs() / 1000) {
  rocksdb::LRUCacheOptions options;
  options.capacity = ShardCapacity();
  options.num_shard_bits = 0;
  options.high_pri_pool_ratio = kHotShare;
  options.metadata_charge_policy = rocksdb::kFullChargeCacheMetadata;
  for (Shard& shard : shards_) shard.cache = rocksdb::NewLRUCache(options);
}

RowCache::~RowCache() = default;

void RowCache::Disown() {
#ifndef __SANITIZE_ADDRESS__  // which would call it a leak
  for (Shard& shard : shards_) shard.cache->DisownData();
#endif
}

// By the upper bits: the cache has a hash of its own.
size_t RowCache::ShardNumber(uint64_t hash) { return hash >> 32 & (kShards - 1); }

RowCache::Departures RowCache::Mark() const {
  Departures mark;
  for (const Shard& shard : shards_) mark.push_back(shard.departures.load(std::memory_order_acquire));
  return mark;
}

void RowCache::NoteAllRows(const Departures& mark) {
  for (size_t number = 0; number < shards_.size(); ++number) {
    shards_[number].complete_since.store(mark[number], std::memory_order_release);
  }
}

void RowCache::NoteUnknownRows() {
  for (Shard& shard : shards_) shard.complete_since.store(0, std::memory_order_release);
}

RowRef RowCache::Lookup(std::string_view tagged, uint64_t hash, bool use, int64_t now_s, bool& was_hot) {
  rocksdb::Cache& cache = *ShardOf(hash).cache;
  rocksdb::Cache::Handle* handle = cache.Lookup(ToSlice(tagged));
  if (handle == nullptr) {
    misses_.Add();
    return RowRef();
  }
  hits_.Add();
  auto* row = static_cast<CachedRow*>(cache.Value(handle));
  was_hot = row->hot.load(std::memory_order_relaxed);
  if (use) {
    if (counts_uses()) row->frequency.store(RaisedFrequency(DecayedFrequency(*row, now_s)), std::memory_order_relaxed);
    if (!was_hot) row->hot.store(true, std::memory_order_relaxed);
    was_hot = true;
    const auto used_s = static_cast<uint32_t>(now_s);  // stored once a second, so that readers share the line
    if (row->used_s.load(std::memory_order_relaxed) != used_s) {
      row->used_s.store(used_s, std::memory_order_relaxed);
    }
  }
  return RowRef(&cache, handle, std::string_view(row->bytes, row->size));
}

int64_t RowCache::IdleSeconds(std::string_view tagged, int64_t now_s) {
  int64_t used_s = created_s_;
  rocksdb::Cache& cache = *ShardOf(Hash64(tagged)).cache;
  if (auto* handle = cache.Lookup(ToSlice(tagged))) {
    const auto* row = static_cast<CachedRow*>(cache.Value(handle));
    const int64_t row_used_s = row->used_s.load(std::memory_order_relaxed);
    if (row_used_s != kUnknownUse) used_s = row_used_s;
    cache.Release(handle);
  }
  return std::max<int64_t>(now_s - used_s, 0);
}

void RowCache::SetUsed(std::string_view tagged, int64_t used_s) {
  rocksdb::Cache& cache = *ShardOf(Hash64(tagged)).cache;
  auto* handle = cache.Lookup(ToSlice(tagged));
  if (handle == nullptr) return;
  auto* row = static_cast<CachedRow*>(cache.Value(handle));
  row->used_s.store(static_cast<uint32_t>(used_s), std::memory_order_relaxed);
  cache.Release(handle);
}

uint8_t RowCache::Frequency(std::string_view tagged, int64_t now_s) {
  rocksdb::Cache& cache = *ShardOf(Hash64(tagged)).cache;
  auto* handle = cache.Lookup(ToSlice(tagged));
  if (handle == nullptr) return kNewFrequency;
  const uint8_t frequency = DecayedFrequency(*static_cast<CachedRow*>(cache.Value(handle)), now_s);
  cache.Release(handle);
  return frequency;
}

void RowCache::SetFrequency(std::string_view tagged, uint8_t frequency) {
  rocksdb::Cache& cache = *ShardOf(Hash64(tagged)).cache;
  auto* handle = cache.Lookup(ToSlice(tagged));
  if (handle == nullptr) return;
  static_cast<CachedRow*>(cache.Value(handle))->frequency.store(frequency, std::memory_order_relaxed);
  cache.Release(handle);
}

void RowCache::Insert(std::string_view tagged, uint64_t hash, std::string_view value, bool hot, int64_t used_s) {
  Shard& shard = ShardOf(hash);
  if (Charge(value) > ShardCapacity() / kMostOfShard) {
    shard.NoteDeparture();
    Erase(tagged, hash);
    return;
  }
  const size_t most = MostCharged(tagged.size(), value.size());
  if (shard.held.fetch_add(most) + most > ShardCapacity()) shard.NoteDeparture();
  CachedRow* row = CachedRow::New(&shard.held, value, hot, used_s);
  if (counts_uses()) row->frequency.store(Frequency(tagged, used_s), std::memory_order_relaxed);
  Put(shard, tagged, row);
}

bool RowCache::InsertIfRoom(std::string_view tagged, uint64_t hash, std::string_view value, int64_t used_s) {
  if (Charge(value) > ShardCapacity() / kMostOfShard) return false;
  Shard& shard = ShardOf(hash);
  const size_t most = MostCharged(tagged.size(), value.size());
  if (shard.held.fetch_add(most) + most > ShardCapacity()) {
    shard.held.fetch_sub(most);
    return false;
  }
  Put(shard, tagged, CachedRow::New(&shard.held, value, false, used_s));
  return true;
}

// Without a handle to return, a row that does not fit is freed by the cache itself.
void RowCache::Put(Shard& shard, std::string_view tagged, CachedRow* row) {
  const bool hot = row->hot.load(std::memory_order_relaxed);
  const auto priority = hot ? rocksdb::Cache::Priority::HIGH : rocksdb::Cache::Priority::LOW;
  (void)shard.cache->Insert(ToSlice(tagged), row, Charge({row->bytes, row->size}), &CachedRow::Delete, nullptr,
                            priority);
}

void RowCache::Erase(std::string_view tagged, uint64_t hash) {
  ShardOf(hash).cache->Erase(ToSlice(tagged));
}

void RowCache::EraseDead(const std::function<bool(std::string_view)>& is_dead) {
  for (const Shard& shard : shards_) {
    std::vector<std::string> dead;
    const auto look = [&](const rocksdb::Slice& tagged, void*, size_t, rocksdb::Cache::DeleterFn) {
      if (is_dead({tagged.data(), tagged.size()})) dead.push_back(tagged.ToString());
    };
    shard.cache->ApplyToAllEntries(look, {});
    for (const std::string& tagged : dead) shard.cache->Erase(tagged);
  }
}

void RowCache::EraseAll() {
  for (Shard& shard : shards_) {
    shard.NoteDeparture();
    shard.cache->EraseUnRefEntries();
  }
}

// Insert compares with the smaller capacity while a change is under way, and adds to `held` before it does, so that no
// eviction goes unnoticed: neither by it nor here.
void RowCache::SetCapacity(size_t bytes) {
  const bool shrinks = bytes < capacity();
  if (shrinks) capacity_.store(bytes);
  for (Shard& shard : shards_) {
    if (shard.held.load() > bytes / shards_.size()) shard.NoteDeparture();
    shard.cache->SetCapacity(bytes / shards_.size());
  }
  if (!shrinks) capacity_.store(bytes);
}

size_t RowCache::usage() const {
  size_t sum = 0;
  for (const Shard& shard : shards_) sum += shard.cache->GetUsage();
  return sum;
}

}  // namespace cairn
