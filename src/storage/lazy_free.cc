// SPDX-License-Identifier: BSD-3-Clause
#include "storage/lazy_free.h"

#include <rocksdb/db.h>
#include <rocksdb/experimental.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "encoding/varint.h"
#include "storage/overlay.h"
#include "storage/slice.h"
#include "storage/store.h"

namespace cairn {
namespace {

// Up to this many rows are freed at once; as in Redis, only larger values count as lazily freed.
constexpr uint64_t kRowsWorthCounting = 64;
// A collection of at least this many rows is compacted at once.
constexpr uint64_t kRowsWorthCompacting = 10000;
// Rows per run, about ten milliseconds. Each collection also costs a look at its owner row.
constexpr uint64_t kRowsPerRun = 16384;
constexpr uint64_t kRowsOfLook = 4;
// After so many failed runs a collection is given up: its rows wait for a compaction that RocksDB chooses.
constexpr int kMostFailures = 10;
// Large collections per run that are suggested for a compaction.
constexpr int kSuggestionsPerRun = 4;
// Parts of the key cache per run, about ten milliseconds too.
constexpr int kLocksPerRun = 100;

// Whether a row of the key cache belongs to a dropped keyspace or to a collection below `empty_below`.
bool IsDead(Store& store, std::string_view tagged, CollectionId empty_below) {
  if (tagged.empty()) return false;
  std::string_view row = tagged.substr(1);
  if (static_cast<Space>(tagged[0]) == Space::kKeys) {
    KeyRowParts parts;
    return ParseKeyRow(row, parts) && !store.databases().IsLive(parts.keyspace);
  }
  uint64_t id = 0;
  return ReadU64(row, id) && NumberOfCollection(id) < empty_below;
}

// Whether the collection still has its owner row: the command that noted it as dead may have been dropped.
Result<bool> IsAlive(Store& store, CollectionId id) {
  const RowKey owner = MakeOwnerRow(id, 0);
  rocksdb::PinnableSlice value;
  const rocksdb::Status found = store.engines().Get(rocksdb::ReadOptions(), Space::kOwners, owner.row(), value);
  if (!found.ok() && !found.IsNotFound()) return FromRocksDb(found);
  return found.ok();
}

}  // namespace

void LazyFree::AddCollection(CollectionId id) {
  const MutexLock lock(mutex_);
  collections_.push_back(id);
  added_.fetch_add(1);
}

void LazyFree::AddFlush(CollectionId empty_below, uint64_t keys) {
  const MutexLock lock(mutex_);
  flushed_ = true;
  flushes_.fetch_add(1, std::memory_order_relaxed);
  flushed_keys_.fetch_add(keys, std::memory_order_relaxed);
  empty_below_ = std::max(empty_below_, empty_below);
}

void LazyFree::ForgetDropped() {
  const uint64_t rows = dropped_.exchange(0);
  uint64_t left = orphans_on_disk_.load();
  while (!orphans_on_disk_.compare_exchange_weak(left, left - std::min(left, rows))) {
  }
}

Status LazyFree::Run(Store& store) {
  const MutexLock work(work_mutex_);
  Status dropped;
  if (!is_held()) dropped = FreeKeyspaces(store);  // deleting files ignores snapshots
  // While the store refuses writes, Recovery has logged why, and later runs retry.
  if (!store.recovery().writable()) return Ok();
  TRY(FreeCollections(store));
  TRY(SuggestCompactions(store));
  return dropped;
}

// Frees what dropped keyspaces have left.
Status LazyFree::FreeKeyspaces(Store& store) {
  bool flushed;
  CollectionId empty_below;
  {
    const MutexLock lock(mutex_);
    flushed = std::exchange(flushed_, false);
    empty_below = std::exchange(empty_below_, 0);
  }
  if (flushed) {
    cache_pass_.emplace();
    cache_empty_below_ = std::max(cache_empty_below_, empty_below);
    files_empty_below_ = std::max(files_empty_below_, empty_below);
    dead_files_.emplace(store.engines());
  }
  if (cache_pass_) EraseDeadRows(store);
  if (!dead_files_ || !TRY(DropDeadFiles(store))) return Ok();
  dead_files_.reset();
  files_empty_below_ = 0;
  return Ok();
}

Status LazyFree::FreeCollections(Store& store) {
  Status status;
  for (uint64_t rows_left = kRowsPerRun; status.ok() && rows_left > 0 && BeginNext();) {
    bool is_done = true;
    status = FreeRows(store, rows_left, is_done);
    if (!status.ok()) is_done = ++walk_->failures == kMostFailures;
    if (!is_done) break;
    walk_.reset();
    done_.fetch_add(1);
  }
  return status;
}

// Makes a collection the current one; false if there is none.
bool LazyFree::BeginNext() {
  if (walk_) return true;
  const MutexLock lock(mutex_);
  if (collections_.empty()) return false;
  const CollectionId id = collections_.front();
  collections_.pop_front();
  walk_ = Walk{id, std::string(MakeCollectionStart(Space::kElements, id, 0).row())};
  return true;
}

Status LazyFree::FreeRows(Store& store, uint64_t& rows_left, bool& is_done) {
  rows_left -= std::min(rows_left, kRowsOfLook);
  is_done = true;
  if (TRY(IsAlive(store, walk_->id))) return Ok();
  const RowKey upper = MakeCollectionEnd(Space::kElements, walk_->id, 0);
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const rocksdb::Slice end = ToSlice(upper.row());
  options.iterate_upper_bound = &end;
  const uint64_t rows_before = rows_left;
  const RowPlace place = store.engines().PlaceOf(Space::kElements, upper.row());
  std::unique_ptr<rocksdb::Iterator> rows(place.db.NewIterator(options, place.family));
  std::string tagged(1, static_cast<char>(Space::kElements));
  for (rows->Seek(walk_->next); rows->Valid() && rows_left > 0; rows->Next(), --rows_left) {
    tagged.resize(1);
    tagged.append(rows->key().data(), rows->key().size());
    store.cache().Erase(tagged, Overlay::HashOf(tagged));
  }
  TRY(FromRocksDb(rows->status()));
  is_done = !rows->Valid();
  const uint64_t visited = rows_before - rows_left;
  walk_->rows += visited;
  orphans_.fetch_add(visited, std::memory_order_relaxed);
  if (ModeOfCollection(walk_->id) != StorageMode::kMemory) orphans_on_disk_.fetch_add(visited);
  walk_->next = is_done ? std::string(upper.row()) : rows->key().ToString();
  rows.reset();  // RocksDB deletes no file that an open iterator has read
  if (!is_done) return Ok();
  if (walk_->rows >= kRowsWorthCompacting) large_.push_back(*walk_);
  if (walk_->rows > kRowsWorthCounting) store.counters().lazyfreed_objects.Add();
  return Ok();
}

// During a hold a compaction would drop no row. The many collections that have waited for its end take several runs.
Status LazyFree::SuggestCompactions(Store& store) {
  for (int left = kSuggestionsPerRun; left > 0 && !large_.empty() && !is_held(); --left) {
    Status suggested = SuggestCompaction(store, large_.front().id);
    if (!suggested.ok() && ++large_.front().failures < kMostFailures) return suggested;
    large_.pop_front();
    flushed_large_ -= std::min<size_t>(flushed_large_, 1);
  }
  return Ok();
}

// Flushes the memtables for all collections in large_.
Status LazyFree::FlushLarge(Store& store) {
  rocksdb::FlushOptions flush;
  flush.wait = false;
  flush.allow_write_stall = true;
  for (const StorageMode mode : {StorageMode::kSsd, StorageMode::kHdd, StorageMode::kMemory}) {
    const auto has_mode = [mode](const Walk& large) { return ModeOfCollection(large.id) == mode; };
    if (std::ranges::none_of(large_, has_mode)) continue;
    const Engine& engine = store.engines().Of(mode);
    TRY(FromRocksDb(
        engine.db().Flush(flush, {engine.family(Space::kElements, mode), engine.family(Space::kScores, mode)})));
  }
  flushed_large_ = large_.size();
  return Ok();
}

Status LazyFree::SuggestCompaction(Store& store, CollectionId id) {
  // Memtables come first: the filter then drops dead rows before they are written.
  if (flushed_large_ == 0) TRY(FlushLarge(store));
  const StorageMode mode = ModeOfCollection(id);
  const Engine& engine = store.engines().Of(mode);
  for (const Space space : {Space::kElements, Space::kScores}) {
    const RowKey from = MakeCollectionStart(space, id, 0);
    const RowKey to = MakeCollectionEnd(space, id, 0);
    const rocksdb::Slice begin = ToSlice(from.row());
    const rocksdb::Slice limit = ToSlice(to.row());
    TRY(FromRocksDb(
        rocksdb::experimental::SuggestCompactRange(&engine.db(), engine.family(space, mode), &begin, &limit)));
  }
  return Ok();
}

void LazyFree::EraseDeadRows(Store& store) {
  const CollectionId empty_below = cache_empty_below_;
  const auto is_dead = [&](std::string_view tagged) { return IsDead(store, tagged, empty_below); };
  if (store.cache().EraseDead(*cache_pass_, kLocksPerRun, is_dead)) return;
  cache_pass_.reset();
  cache_empty_below_ = 0;
}

Result<bool> LazyFree::DropDeadFiles(Store& store) {
  const KeyspaceId oldest = store.databases().Oldest();
  std::vector<std::pair<RowKey, RowKey>> ranges;
  for (const StorageMode mode : {StorageMode::kSsd, StorageMode::kHdd, StorageMode::kMemory}) {
    if (files_empty_below_ != 0) {
      for (const Space space : {Space::kElements, Space::kScores}) {
        ranges.emplace_back(MakeCollectionStart(space, CollectionIn(mode, 0), 0),
                            MakeCollectionStart(space, CollectionIn(mode, files_empty_below_), 0));
      }
    }
    ranges.emplace_back(MakeKeyBound(KeyspaceIn(mode, 0), 0), MakeKeyBound(KeyspaceIn(mode, oldest), 0));
  }
  for (const auto& [lower, upper] : ranges) {
    if (!TRY(dead_files_->Compact(lower, upper))) return false;
  }
  // A power loss may take a flush that is not synced, and the files would be missing then.
  TRY(store.log().Sync());
  for (const auto& [lower, upper] : ranges) TRY(dead_files_->Delete(lower, upper));
  if (files_empty_below_ != 0) orphans_on_disk_ = 0;  // they were in these files
  return true;
}

}  // namespace cairn
