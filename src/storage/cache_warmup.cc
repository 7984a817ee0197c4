// SPDX-License-Identifier: BSD-3-Clause
#include "storage/cache_warmup.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "storage/disk_reserve.h"
#include "storage/hot_rows_file.h"
#include "storage/overlay.h"
#include "storage/slice.h"
#include "storage/store.h"
#include "storage/transaction.h"

namespace cairn {
namespace {

constexpr size_t kBatch = 64;
constexpr uint64_t kMostBatchBytes = 4 << 20;  // of values in memory at a time
// The file and the names in memory: this part of the key cache at most.
constexpr size_t kPartOfCache = 8;
constexpr size_t kMostBytes = 64 << 20;
// The warm-up ends at this share of the capacity, before rows evict each other.
constexpr size_t kFullPercent = 95;
// Names are saved again after this time, and after so many times the time that saving them took.
constexpr int64_t kSaveMs = 10'000;
constexpr int64_t kSavesPart = 1000;

// Reads rows of one space, of databases on disk with storage-mode ssd. Rows beyond kMostBatchBytes are left out, as
// rows that cannot be read are.
class RowValues {
 public:
  RowValues(Store& store, Space space, std::span<const std::string_view> rows)
      : values_(rows.size()), statuses_(rows.size()) {
    std::vector<rocksdb::Slice> keys;
    for (const std::string_view row : rows) keys.push_back(ToSlice(row));
    rocksdb::ReadOptions options;
    options.value_size_soft_limit = kMostBatchBytes;
    store.engine().db().MultiGet(options, store.engine().family(space), keys.size(), keys.data(), values_.data(),
                                 statuses_.data(), true);
  }
  bool Has(size_t i) const { return statuses_[i].ok(); }
  std::string_view operator[](size_t i) const { return {values_[i].data(), values_[i].size()}; }

 private:
  std::vector<rocksdb::PinnableSlice> values_;
  std::vector<rocksdb::Status> statuses_;
};

}  // namespace

CacheWarmup::CacheWarmup(Store& store) : store_(store) {}

CacheWarmup::~CacheWarmup() { Stop(false); }

const char* CacheWarmup::NameOf(State state) {
  constexpr const char* kNames[] = {"starting", "none", "off", "loading", "done", "failed"};
  return kNames[static_cast<int>(state)];
}

CacheWarmup::Progress CacheWarmup::progress() const {
  const MutexLock lock(mutex_);
  return progress_;
}

void CacheWarmup::Start() {
  owner_ = std::make_unique<const Transaction>(store_);
  thread_ = StartThread("warm-up", [this] { Run(); });
}

void CacheWarmup::Stop(bool saves) {
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  wake_.NotifyAll();
  if (thread_.joinable()) thread_.join();
  owner_.reset();
  // The file of an interrupted warm-up names more hot rows than the cache has.
  if (saves && HasEnded()) Save();
}

bool CacheWarmup::HasEnded() const {
  const State state = progress().state;
  return state != State::kStarting && state != State::kLoading;
}

bool CacheWarmup::Sleep(int64_t ms) {
  const MutexLock lock(mutex_);
  return !wake_.WaitFor(mutex_, std::chrono::milliseconds(ms),
                        [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_; });
}

void CacheWarmup::Run() {
  LowerPriority();
  Load();
  if (!HasEnded()) return;  // stopped
  int64_t pause_ms = kSaveMs;
  while (Sleep(pause_ms)) {
    Save();
    pause_ms = std::max(kSaveMs, progress().save_us * kSavesPart / 1000);
  }
}

// ---- reading

size_t CacheWarmup::MostBytes() const { return std::min(store_.cache().capacity() / kPartOfCache, kMostBytes); }

bool CacheWarmup::IsFull() const { return store_.cache().usage() >= store_.cache().capacity() / 100 * kFullPercent; }

void CacheWarmup::Load() {
  State state = State::kOff;
  if (is_on_) {
    const Result<HotRows> rows = ReadHotRows(store_.engine().options().dir, 2 * kMostBytes);
    if (!rows.ok()) {
      Log(LogSeverity::kWarning, "storage: the key cache is not warmed up: {}", rows.status().text());
      state = State::kFailed;
    } else {
      state = rows->size() == 0 ? State::kNone : LoadRows(*rows);
    }
  }
  const MutexLock lock(mutex_);
  progress_.bytes = 0;
  progress_.state = state;
}

CacheWarmup::State CacheWarmup::LoadRows(const HotRows& rows) {
  {
    const MutexLock lock(mutex_);
    progress_.state = State::kLoading;
    progress_.names = rows.size();
    progress_.bytes = rows.kept.allocated() + rows.young.allocated();
  }
  const int64_t started_us = MonotonicUs();
  if (!LoadNames(rows.kept, true) || !LoadNames(rows.young, false)) return is_on_ ? State::kLoading : State::kOff;
  const int64_t took_ms = (MonotonicUs() - started_us) / 1000;
  const MutexLock lock(mutex_);
  progress_.took_ms = took_ms;
  Log(LogSeverity::kNotice, "storage: the key cache was warmed up with {} of {} rows in {} ms", progress_.rows,
      progress_.names, took_ms);
  return State::kDone;
}

bool CacheWarmup::LoadNames(const RowNames& names, bool is_kept) {
  std::vector<std::string_view> batch;
  for (size_t next = 0; next < names.size() && !IsFull();) {
    const int64_t begun_us = MonotonicUs();
    batch.clear();
    // Rows of one space; the names are sorted by it.
    while (next < names.size() && batch.size() < kBatch && (batch.empty() || batch[0][0] == names[next][0])) {
      batch.push_back(names[next++]);
    }
    LoadBatch(batch, is_kept);
    {
      const MutexLock lock(mutex_);
      progress_.looked += batch.size();
    }
    // Half of the time is left to others, in steps that the clock can measure.
    if (!is_on_ || !Sleep((MonotonicUs() - begun_us + 500) / 1000)) return false;
  }
  return true;
}

void CacheWarmup::LoadBatch(std::span<const std::string_view> names, bool is_kept) {
  const std::vector<Wanted> wanted = Observe(names);
  if (wanted.empty()) return;
  std::vector<std::string_view> rows;
  for (const Wanted& one : wanted) rows.push_back(one.row.row());
  const RowValues values(store_, wanted[0].row.space(), rows);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (values.Has(i)) Admit(wanted[i], values[i], is_kept);
  }
}

// The rows whose keys are alive, with the versions of their stripes before anything is read.
std::vector<CacheWarmup::Wanted> CacheWarmup::Observe(std::span<const std::string_view> names) {
  const auto space = static_cast<Space>(names[0][0]);
  if (space == Space::kKeys) return ObserveKeys(names);
  if (space == Space::kElements) return ObserveElements(names);
  return {};
}

std::vector<CacheWarmup::Wanted> CacheWarmup::ObserveKeys(std::span<const std::string_view> names) {
  std::vector<Wanted> wanted;
  for (const std::string_view name : names) {
    KeyRowParts parts;
    if (!ParseKeyRow(name.substr(1), parts) || !store_.databases().IsLive(parts.keyspace)) continue;
    RowKey row = MakeKeyRow(parts.keyspace, parts.key);
    const uint64_t version = store_.stripes().Version(row.stripe());
    if (row.tagged() == name) wanted.push_back({std::move(row), version});
  }
  return wanted;
}

// The owner of an element's collection tells its key, and so the stripe. The owner is read again after the version: it
// may have become another key's (RENAME) between the two.
std::vector<CacheWarmup::Wanted> CacheWarmup::ObserveElements(std::span<const std::string_view> names) {
  std::vector<std::string_view> owner_rows;
  for (const std::string_view name : names) owner_rows.push_back(name.substr(1, sizeof(CollectionId)));
  const RowValues owners(store_, Space::kOwners, owner_rows);
  std::vector<Wanted> wanted;
  std::vector<size_t> places;
  for (size_t i = 0; i < names.size(); ++i) {
    KeyRowParts parts;
    if (!owners.Has(i) || !ParseKeyRow(owners[i], parts) || !store_.databases().IsLive(parts.keyspace)) continue;
    RowKey row(Space::kElements, StripeOf(parts.key));
    row.append(names[i].substr(1));
    const uint64_t version = store_.stripes().Version(row.stripe());
    wanted.push_back({std::move(row), version});
    places.push_back(i);
  }
  const RowValues again(store_, Space::kOwners, owner_rows);
  size_t kept = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const size_t place = places[i];
    if (!again.Has(place) || again[place] != owners[place]) continue;
    if (kept != i) wanted[kept] = std::move(wanted[i]);
    ++kept;
  }
  wanted.resize(kept);
  return wanted;
}

void CacheWarmup::Admit(const Wanted& wanted, std::string_view value, bool is_kept) {
  if (Stripes::IsCommitting(wanted.version)) return;
  const uint32_t stripe = wanted.row.stripe();
  if (!store_.stripes().TryLock(stripe, owner_.get())) return;
  bool inserted = false;
  if (store_.stripes().Version(stripe) == wanted.version) {
    const std::string_view tagged = wanted.row.tagged();
    inserted = store_.cache().InsertHot(tagged, Overlay::HashOf(tagged), value, is_kept);
  }
  store_.stripes().Unlock(stripe, owner_.get());
  if (!inserted) return;
  const MutexLock lock(mutex_);
  ++progress_.rows;
}

// ---- saving

void CacheWarmup::Save() {
  const uint64_t looks = store_.cache().hits() + store_.cache().misses();
  if (!is_on_ || looks == looks_) return;
  if (store_.engine().disk_reserve().level() != DiskReserve::Level::kPlenty) return;
  const int64_t started_us = MonotonicUs();
  const HotRows rows = store_.cache().HottestRows(MostBytes());
  if (rows.size() == 0) return;
  const Status written = WriteHotRows(store_.engine().options().dir, rows);
  if (!written.ok()) {
    Log(LogSeverity::kWarning, "storage: the names of the key cache's rows were not saved: {}", written.text());
    return;
  }
  looks_ = looks;
  const MutexLock lock(mutex_);
  progress_.saved = rows.size();
  progress_.save_us = MonotonicUs() - started_us;
}

}  // namespace cairn
