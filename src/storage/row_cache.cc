// SPDX-License-Identifier: BSD-3-Clause
#include "storage/row_cache.h"

#include <rocksdb/cache.h>

#include <atomic>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/clock.h"
#include "base/random.h"

namespace cairn {
namespace {

// Two thirds above the midpoint: enough below it for a new row to be asked for twice.
constexpr double kHotShare = 0.67;
constexpr int kShardBits = 6;
constexpr size_t kAllocatorOverhead = 16;
// A row larger than this part of a shard would push out too much for one look-up saved.
constexpr size_t kMostOfShard = 8;

struct CachedRow {
  std::atomic<uint32_t> used_s;  // when it was last used
  std::atomic<bool> hot;
  std::atomic<uint8_t> frequency;  // of use, while uses are counted
  uint32_t size;
  char bytes[];

  static CachedRow* New(std::string_view value, bool hot, int64_t used_s) {
    void* memory = std::malloc(sizeof(CachedRow) + value.size());
    if (memory == nullptr) throw std::bad_alloc();
    auto* row = new (memory) CachedRow{static_cast<uint32_t>(used_s), hot, RowCache::kNewFrequency,
                                       static_cast<uint32_t>(value.size())};
    std::memcpy(row->bytes, value.data(), value.size());
    return row;
  }
  static void Delete(const rocksdb::Slice&, void* row) { std::free(row); }
};

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

}  // namespace

void RowRef::Release() { cache_->Release(handle_); }

RowCache::RowCache(size_t capacity_bytes) : created_s_(WallMs() / 1000) {
  rocksdb::LRUCacheOptions options;
  options.capacity = capacity_bytes;
  options.num_shard_bits = kShardBits;
  options.high_pri_pool_ratio = kHotShare;
  options.metadata_charge_policy = rocksdb::kFullChargeCacheMetadata;
  cache_ = rocksdb::NewLRUCache(options);
}

RowCache::~RowCache() = default;

RowRef RowCache::Lookup(std::string_view tagged, bool use, int64_t now_s, bool& was_hot) {
  rocksdb::Cache::Handle* handle = cache_->Lookup(rocksdb::Slice(tagged.data(), tagged.size()));
  if (handle == nullptr) {
    misses_.Add();
    return RowRef();
  }
  hits_.Add();
  auto* row = static_cast<CachedRow*>(cache_->Value(handle));
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
  return RowRef(this, handle, std::string_view(row->bytes, row->size));
}

void RowCache::Release(void* handle) { cache_->Release(static_cast<rocksdb::Cache::Handle*>(handle)); }

int64_t RowCache::IdleSeconds(std::string_view tagged, int64_t now_s) {
  int64_t used_s = created_s_;
  if (auto* handle = cache_->Lookup(rocksdb::Slice(tagged.data(), tagged.size()))) {
    const auto* row = static_cast<CachedRow*>(cache_->Value(handle));
    const int64_t row_used_s = row->used_s.load(std::memory_order_relaxed);
    if (row_used_s != kUnknownUse) used_s = row_used_s;
    cache_->Release(handle);
  }
  return std::max<int64_t>(now_s - used_s, 0);
}

void RowCache::SetUsed(std::string_view tagged, int64_t used_s) {
  auto* handle = cache_->Lookup(rocksdb::Slice(tagged.data(), tagged.size()));
  if (handle == nullptr) return;
  auto* row = static_cast<CachedRow*>(cache_->Value(handle));
  row->used_s.store(static_cast<uint32_t>(used_s), std::memory_order_relaxed);
  cache_->Release(handle);
}

uint8_t RowCache::Frequency(std::string_view tagged, int64_t now_s) {
  auto* handle = cache_->Lookup(rocksdb::Slice(tagged.data(), tagged.size()));
  if (handle == nullptr) return kNewFrequency;
  const uint8_t frequency = DecayedFrequency(*static_cast<CachedRow*>(cache_->Value(handle)), now_s);
  cache_->Release(handle);
  return frequency;
}

void RowCache::SetFrequency(std::string_view tagged, uint8_t frequency) {
  auto* handle = cache_->Lookup(rocksdb::Slice(tagged.data(), tagged.size()));
  if (handle == nullptr) return;
  static_cast<CachedRow*>(cache_->Value(handle))->frequency.store(frequency, std::memory_order_relaxed);
  cache_->Release(handle);
}

void RowCache::Insert(std::string_view tagged, std::string_view value, bool hot, int64_t used_s) {
  const size_t charge = sizeof(CachedRow) + value.size() + kAllocatorOverhead;
  if (charge > (capacity() >> kShardBits) / kMostOfShard) {
    Erase(tagged);
    return;
  }
  CachedRow* row = CachedRow::New(value, hot, used_s);
  if (counts_uses()) row->frequency.store(Frequency(tagged, used_s), std::memory_order_relaxed);
  const auto priority = hot ? rocksdb::Cache::Priority::HIGH : rocksdb::Cache::Priority::LOW;
  // Without a handle to return, a row that does not fit is freed by the cache itself.
  (void)cache_->Insert(rocksdb::Slice(tagged.data(), tagged.size()), row, charge, &CachedRow::Delete, nullptr,
                       priority);
}

void RowCache::Erase(std::string_view tagged) {
  cache_->Erase(rocksdb::Slice(tagged.data(), tagged.size()));
}

void RowCache::EraseDeadKeys(const std::function<bool(KeyspaceId)>& is_live) {
  std::vector<std::string> dead;
  const auto look = [&](const rocksdb::Slice& tagged, void*, size_t, rocksdb::Cache::DeleterFn) {
    KeyRowParts parts;
    if (tagged.empty() || static_cast<Space>(tagged[0]) != Space::kKeys) return;
    if (ParseKeyRow({tagged.data() + 1, tagged.size() - 1}, parts) && !is_live(parts.keyspace)) {
      dead.push_back(tagged.ToString());
    }
  };
  cache_->ApplyToAllEntries(look, {});
  for (const std::string& tagged : dead) Erase(tagged);
}

void RowCache::EraseAll() { cache_->EraseUnRefEntries(); }
void RowCache::SetCapacity(size_t bytes) { cache_->SetCapacity(bytes); }
size_t RowCache::capacity() const { return cache_->GetCapacity(); }
size_t RowCache::usage() const { return cache_->GetUsage(); }

}  // namespace cairn
