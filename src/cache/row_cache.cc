// SPDX-License-Identifier: BSD-3-Clause
#include "cache/row_cache.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "base/assert.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/random.h"

// Whether this is a build with AddressSanitizer, which reports a leak at the end; GCC and clang say so differently.
#ifdef __has_feature
#define CAIRN_HAS_FEATURE(feature) __has_feature(feature)
#else
#define CAIRN_HAS_FEATURE(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || CAIRN_HAS_FEATURE(address_sanitizer)
#define CAIRN_LOOKS_FOR_LEAKS true
#else
#define CAIRN_LOOKS_FOR_LEAKS false
#endif

namespace cairn {
namespace {

constexpr bool kLooksForLeaks = CAIRN_LOOKS_FOR_LEAKS;
constexpr size_t kShards = 64;
// The young queue's part of a shard: large enough for a new row to be used twice.
constexpr size_t kYoungPercent = 30;
// Memory of a row's slot, in a table that is seven sixteenths to seven eighths full.
constexpr size_t kPlaceBytes = 16;
// The part of a shard that one row may take; a larger row would evict too many others to save one look-up.
constexpr size_t kMostOfShard = 8;
// The part of a shard in which past uses are remembered.
constexpr size_t kPastPart = 32;
constexpr size_t kLeastPastBytes = 64;
// The most rows that one eviction skips, used or pinned ones, and the most rows handled under one lock: a lock must
// not be held for long.
constexpr int kMostPassedOver = 64;
constexpr size_t kRowsPerLock = 1024;
// Pause between two locks. A mutex is not fair, so waiting threads get it only in a pause.
constexpr auto kGap = std::chrono::microseconds(50);

// A larger value is copied before the shard is locked.
constexpr size_t kMostCopiedLocked = 4096;

// The use count rises from 6, 7, 8, ... after ever more uses: this many more each time.
constexpr uint32_t kFrequencyLogFactor = 10;
constexpr int64_t kFrequencyDecaySeconds = 60;

// The frequency at a time after the last use.
uint8_t Decayed(uint8_t frequency, int64_t used_s, int64_t now_s) {
  if (used_s == RowCache::kUnknownUse || now_s <= used_s) return frequency;
  return static_cast<uint8_t>(frequency - std::min<int64_t>((now_s - used_s) / kFrequencyDecaySeconds, frequency));
}

uint8_t DecayedFrequency(const CachedRow& row, int64_t now_s) {
  return Decayed(row.frequency.load(std::memory_order_relaxed), row.used_s.load(std::memory_order_relaxed), now_s);
}

// Counts one use. The higher the count, the rarer it rises.
uint8_t RaisedFrequency(uint8_t frequency) {
  if (frequency == UINT8_MAX) return frequency;
  thread_local Random random(static_cast<uint64_t>(MonotonicUs()));
  const uint32_t above = frequency > RowCache::kNewFrequency ? frequency - RowCache::kNewFrequency : 0;
  return frequency + (random.Below(above * kFrequencyLogFactor + 1) == 0);
}

size_t ChargeOf(size_t key_size, size_t value_size) { return CachedRow::MemoryOf(key_size, value_size) + kPlaceBytes; }

struct RowDeleter {
  void operator()(CachedRow* row) const { CachedRow::Delete(row); }
};
using OwnedRow = std::unique_ptr<CachedRow, RowDeleter>;

void Unreference(CachedRow* row, std::atomic<size_t>& charged) {
  if (row->references.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  charged.fetch_sub(row->memory() + kPlaceBytes, std::memory_order_relaxed);
  CachedRow::Delete(row);
}

// Avoids writes that change nothing, because other threads read the same cache line.
template <typename T>
void StoreIfNew(std::atomic<T>& field, T value) {
  if (field.load(std::memory_order_relaxed) != value) field.store(value, std::memory_order_relaxed);
}

}  // namespace

void RowRef::Release() { Unreference(pinned_, *charged_); }

bool RowCache::Shard::IsTooLarge(size_t charge) const { return charge > capacity / kMostOfShard; }

void RowCache::Shard::Add(CachedRow* row) {
  table.Insert(row);
  QueueOf(row).Add(row);
  charged.fetch_add(row->memory() + kPlaceBytes, std::memory_order_relaxed);
}

void RowCache::Shard::Replace(CachedRow* old, CachedRow* row) {
  table.Remove(old);
  table.Insert(row);
  QueueOf(old).Replace(old, row);
  charged.fetch_add(row->memory() + kPlaceBytes, std::memory_order_relaxed);
  Unreference(old, charged);
}

void RowCache::Shard::Remove(CachedRow* row) {
  table.Remove(row);
  QueueOf(row).Remove(row);
  Unreference(row, charged);
}

void RowCache::Shard::Evict(size_t charge, size_t most_rows) {
  if (HasRoomFor(charge)) return;
  NoteDeparture();
  for (size_t rows = 0; rows < most_rows && !HasRoomFor(charge) && EvictOne(); ++rows) {
  }
}

void RowCache::Shard::Resize(size_t bytes, bool remembers) {
  const MutexLock lock(mutex);
  const size_t wanted = remembers ? std::max(bytes / kPastPart, kLeastPastBytes) : 0;
  if (wanted == 0) past.reset();
  // A slightly smaller or larger budget is no reason to forget the uses.
  if (wanted > 0 && (!past || past->bytes() > 2 * wanted || 2 * past->bytes() < wanted)) {
    past = std::make_unique<PastUses>(wanted);
  }
  const size_t taken = past ? past->bytes() : 0;
  capacity = bytes - std::min(bytes, taken);
}

bool RowCache::Shard::Shrink() {
  const MutexLock lock(mutex);
  const size_t before = table.size();
  Evict(0, kRowsPerLock);
  return !HasRoomFor(0) && table.size() < before;
}

bool RowCache::Shard::EvictOne() {
  for (int passed_over = 0;; ++passed_over) {
    const bool from_young = kept.empty() || 100 * young.bytes() > kYoungPercent * (young.bytes() + kept.bytes());
    RowQueue& queue = from_young ? young : kept;
    CachedRow* const row = queue.oldest();
    if (row == nullptr) return false;
    // Prefetches the memory of the next row and the slot of the one after it.
    if (row->newer != nullptr) {
      table.Prefetch(row->newer->hash);
      __builtin_prefetch(row->newer->newer);
    }
    const uint8_t uses = row->uses.load(std::memory_order_relaxed);
    const bool is_last = passed_over == kMostPassedOver;
    if (!row->IsPinned() && (uses == 0 || is_last)) {
      const int64_t used_s = row->used_s.load(std::memory_order_relaxed);
      if (past && used_s != kUnknownUse) past->Note(row->hash, used_s);
      Remove(row);
      return true;
    }
    if (is_last) return false;
    queue.Remove(row);
    row->uses.store(from_young || uses == 0 ? 0 : uses - 1, std::memory_order_relaxed);
    row->is_kept = true;
    kept.Add(row);
  }
}

RowCache::RowCache(size_t capacity_bytes) : shards_(kShards), capacity_(capacity_bytes), created_s_(WallMs() / 1000) {
  SetCapacity(capacity_bytes);
}

RowCache::~RowCache() {
  if (!is_disowned_) EraseAll();
}

void RowCache::Disown() { is_disowned_ = !kLooksForLeaks; }

// Uses bits of the hash that do not determine the slot in the shard's table.
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

RowRef RowCache::Lookup(std::string_view tagged, uint64_t hash, bool use, int64_t now_s) {
  Shard& shard = ShardOf(hash);
  CachedRow* row = nullptr;
  {
    const MutexLock lock(shard.mutex);
    row = shard.table.Find(hash, tagged);
    if (row != nullptr) row->references.fetch_add(1, std::memory_order_relaxed);
  }
  if (row == nullptr) {
    misses_.Add();
    return RowRef();
  }
  hits_.Add();
  if (use) {
    if (counts_uses()) row->frequency.store(RaisedFrequency(DecayedFrequency(*row, now_s)), std::memory_order_relaxed);
    const uint8_t uses = row->uses.load(std::memory_order_relaxed);
    StoreIfNew(row->uses, std::min<uint8_t>(uses + 1, CachedRow::kMostUses));
    StoreIfNew(row->used_s, static_cast<uint32_t>(now_s));
  }
  return RowRef(row, &shard.charged, row->value());
}

void RowCache::PrefetchRow(uint64_t hash) {
  Shard& shard = ShardOf(hash);
  const MutexLock lock(shard.mutex);
  shard.table.PrefetchRow(hash);
}

template <typename Look>
void RowCache::WithRow(std::string_view tagged, const Look& look) {
  const uint64_t hash = Hash64(tagged);
  Shard& shard = ShardOf(hash);
  const MutexLock lock(shard.mutex);
  if (CachedRow* const row = shard.table.Find(hash, tagged)) look(*row);
}

bool RowCache::Has(std::string_view tagged, uint64_t hash) {
  Shard& shard = ShardOf(hash);
  const MutexLock lock(shard.mutex);
  return shard.table.Find(hash, tagged) != nullptr;
}

std::optional<int64_t> RowCache::LastUse(const Shard& shard, uint64_t hash, const CachedRow* row) const {
  const int64_t used_s = row == nullptr ? kUnknownUse : row->used_s.load(std::memory_order_relaxed);
  if (used_s != kUnknownUse) return used_s;
  const std::optional<int64_t> past_s = shard.past ? shard.past->Find(hash) : std::nullopt;
  return past_s ? std::max(*past_s, created_s_) : past_s;
}

int64_t RowCache::IdleSeconds(std::string_view tagged, int64_t now_s) {
  const uint64_t hash = Hash64(tagged);
  Shard& shard = ShardOf(hash);
  const MutexLock lock(shard.mutex);
  const int64_t used_s = LastUse(shard, hash, shard.table.Find(hash, tagged)).value_or(created_s_);
  return std::max<int64_t>(now_s - used_s, 0);
}

void RowCache::SetUsed(std::string_view tagged, int64_t used_s) {
  WithRow(tagged,
          [used_s](CachedRow& row) { row.used_s.store(static_cast<uint32_t>(used_s), std::memory_order_relaxed); });
}

uint8_t RowCache::FrequencyOf(const CachedRow* row, int64_t now_s) const {
  return row != nullptr && counts_uses() ? DecayedFrequency(*row, now_s) : kNewFrequency;
}

uint8_t RowCache::Frequency(std::string_view tagged, int64_t now_s) {
  const uint64_t hash = Hash64(tagged);
  Shard& shard = ShardOf(hash);
  const MutexLock lock(shard.mutex);
  const CachedRow* row = shard.table.Find(hash, tagged);
  if (row != nullptr) return DecayedFrequency(*row, now_s);
  const std::optional<int64_t> used_s = LastUse(shard, hash, nullptr);
  return used_s ? Decayed(kNewFrequency, *used_s, now_s) : kNewFrequency;
}

void RowCache::SetFrequency(std::string_view tagged, uint8_t frequency) {
  WithRow(tagged, [frequency](CachedRow& row) { row.frequency.store(frequency, std::memory_order_relaxed); });
}

// Memory is allocated before any row is removed: otherwise, if the allocation failed, an existing row would be missing
// in a complete cache, which means that it does not exist.
void RowCache::Insert(std::string_view tagged, uint64_t hash, std::string_view value, int64_t used_s) {
  const size_t charge = ChargeOf(tagged.size(), value.size());
  OwnedRow row;
  if (value.size() > kMostCopiedLocked && charge <= capacity() / kShards / kMostOfShard) {
    row.reset(CachedRow::New(tagged, hash, value, used_s, kNewFrequency));
  }
  Shard& shard = ShardOf(hash);
  const MutexLock lock(shard.mutex);
  CachedRow* const old = shard.table.Find(hash, tagged);
  if (shard.IsTooLarge(charge) || !shard.table.Reserve(hash)) {
    shard.NoteDeparture();
    if (old != nullptr) shard.Remove(old);
    return;
  }
  const uint8_t frequency = FrequencyOf(old, used_s);
  if (old != nullptr && row == nullptr && !old->IsPinned() && old->memory() + kPlaceBytes == charge) {
    old->SetValue(value);
    old->used_s.store(static_cast<uint32_t>(used_s), std::memory_order_relaxed);
    old->frequency.store(frequency, std::memory_order_relaxed);
    return;
  }
  if (row == nullptr) row.reset(CachedRow::New(tagged, hash, value, used_s, frequency));
  row->frequency.store(frequency, std::memory_order_relaxed);
  if (old != nullptr) {
    row->uses.store(old->uses.load(std::memory_order_relaxed), std::memory_order_relaxed);
    row->is_kept = old->is_kept;
    const size_t leaves = old->IsPinned() ? 0 : old->memory() + kPlaceBytes;
    if (shard.HasRoomFor(charge - std::min(charge, leaves))) return shard.Replace(old, row.release());
    shard.Remove(old);
  }
  shard.Evict(charge, kRowsPerLock);
  if (shard.HasRoomFor(charge)) shard.Add(row.release());
}

bool RowCache::InsertIfRoom(std::string_view tagged, uint64_t hash, std::string_view value, int64_t used_s) {
  return AddIfRoom(tagged, hash, value, used_s, Queue::kYoung);
}

bool RowCache::AddIfRoom(std::string_view tagged, uint64_t hash, std::string_view value, int64_t used_s, Queue queue) {
  const size_t charge = ChargeOf(tagged.size(), value.size());
  Shard& shard = ShardOf(hash);
  const MutexLock lock(shard.mutex);
  if (shard.IsTooLarge(charge) || !shard.HasRoomFor(charge) || !shard.table.Reserve(hash)) return false;
  if (shard.table.Find(hash, tagged) != nullptr) return false;
  CachedRow* const row = CachedRow::New(tagged, hash, value, used_s, kNewFrequency);
  row->is_kept = queue == Queue::kKept;
  row->uses.store(row->is_kept ? 1 : 0, std::memory_order_relaxed);
  shard.Add(row);
  return true;
}

void RowCache::Erase(std::string_view tagged, uint64_t hash) {
  Shard& shard = ShardOf(hash);
  const MutexLock lock(shard.mutex);
  if (CachedRow* const row = shard.table.Find(hash, tagged)) shard.Remove(row);
}

bool RowCache::EraseDead(Pass& pass, int locks, const std::function<bool(std::string_view)>& is_dead) {
  std::vector<CachedRow*> rows;
  for (; locks > 0 && pass.shard < shards_.size(); --locks, std::this_thread::sleep_for(kGap)) {
    Shard& shard = shards_[pass.shard];
    const MutexLock lock(shard.mutex);
    rows.clear();
    const bool has_more = shard.table.Next(pass.cursor, kRowsPerLock, rows);
    for (CachedRow* const row : rows) {
      if (is_dead(row->tagged())) shard.Remove(row);
    }
    if (!has_more) pass = {.shard = pass.shard + 1};
  }
  return pass.shard < shards_.size();
}

void RowCache::EraseAll() {
  for (Shard& shard : shards_) {
    const MutexLock lock(shard.mutex);
    shard.NoteDeparture();
    shard.table.Clear();
    for (RowQueue* const queue : {&shard.young, &shard.kept}) {
      while (CachedRow* const row = queue->oldest()) {
        queue->Remove(row);
        Unreference(row, shard.charged);
      }
    }
  }
}

void RowCache::Resize() {
  for (Shard& shard : shards_) {
    shard.Resize(capacity() / shards_.size(), remembers_uses_);
    while (shard.Shrink()) std::this_thread::sleep_for(kGap);
  }
}

void RowCache::SetCapacity(size_t bytes) {
  capacity_.store(bytes);
  Resize();
}

void RowCache::RememberUses(bool remembers) {
  if (remembers_uses_.exchange(remembers) != remembers) Resize();
}

size_t RowCache::usage() const {
  size_t sum = 0;
  for (const Shard& shard : shards_) sum += shard.charged.load(std::memory_order_relaxed);
  return remembers_uses_ ? sum + capacity() / kPastPart : sum;
}

}  // namespace cairn
