// SPDX-License-Identifier: BSD-3-Clause
#include "storage/compaction.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "encoding/varint.h"
#include "storage/format.h"
#include "storage/store.h"

namespace cairn {
namespace {

std::string_view View(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// Which rows a filter may drop: those that are dead, and are also dead after a power loss. The commit that made a row
// dead may not be synced. If the power fails, the row is alive again and must still be there. So at the first dead row
// this takes a snapshot and then syncs the log, and from then on a row must be dead in the snapshot too.
class DroppableRows {
 public:
  explicit DroppableRows(Store& store) : store_(store) {}
  ~DroppableRows() {
    if (snapshot_ != nullptr) store_.engine().db().ReleaseSnapshot(snapshot_);
  }
  DroppableRows(const DroppableRows&) = delete;
  DroppableRows& operator=(const DroppableRows&) = delete;

  // The hold is checked second: rows that were dead before it began may be dropped.
  bool HasDropped(KeyspaceId id) {
    if (store_.databases().IsLive(id) || store_.lazy_free().is_held()) return false;
    return ModeOfKeyspace(id) == StorageMode::kMemory || (IsSynced() && !IsInSnapshot(id));
  }
  // Costs one or two point reads.
  bool HasDroppedCollection(CollectionId id) {
    if (store_.IsLiveCollection(id) || store_.lazy_free().is_held()) return false;
    return ModeOfCollection(id) == StorageMode::kMemory || (IsSynced() && !IsOwnedInSnapshot(id));
  }

 private:
  bool IsSynced() {
    if (snapshot_ == nullptr) {
      snapshot_ = store_.engine().db().GetSnapshot();
      is_synced_ = ReadKeyspaces().ok() && store_.log().Sync().ok();
    }
    return is_synced_;
  }

  Status ReadKeyspaces() {
    rocksdb::PinnableSlice value;
    TRY(FromRocksDb(store_.engines().Get(Options(), Space::kMeta, MakeMetaRow(kDatabasesRow).row(), value)));
    KeyspaceId next = 0;
    return DecodeDatabases(View(value), keyspaces_, next);
  }

  bool IsInSnapshot(KeyspaceId id) const {
    return std::find(keyspaces_.begin(), keyspaces_.end(), id) != keyspaces_.end();
  }

  bool IsOwnedInSnapshot(CollectionId id) const {
    rocksdb::PinnableSlice owner;
    const rocksdb::Status found = store_.engines().Get(Options(), Space::kOwners, MakeOwnerRow(id, 0).row(), owner);
    if (found.IsNotFound()) return false;
    KeyRowParts parts;
    return !found.ok() || !ParseKeyRow(View(owner), parts) || IsInSnapshot(parts.keyspace);  // when in doubt, keep
  }

  rocksdb::ReadOptions Options() const {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot_;
    return options;
  }

  Store& store_;
  const rocksdb::Snapshot* snapshot_ = nullptr;  // of the engine on disk
  std::vector<KeyspaceId> keyspaces_;            // of the databases in the snapshot
  bool is_synced_ = false;
};

// Filters rows by an id at the start of the row (or of its value), with one query per run of equal ids.
template <typename Id, bool (DroppableRows::*has_dropped)(Id), typename ReadId>
class HeadFilter : public rocksdb::CompactionFilter {
 public:
  // `counts`: the rows are elements, and LazyFree is to know how many on disk were dropped.
  HeadFilter(Store& store, ReadId read_id, bool counts)
      : lazy_free_(store.lazy_free()), rows_(store), read_id_(read_id), counts_(counts) {}
  ~HeadFilter() override {
    if (dropped_ > 0) lazy_free_.NoteDropped(dropped_);
  }
  const char* Name() const override { return "cairn.live"; }

  Decision FilterV2(int, const rocksdb::Slice& key, ValueType, const rocksdb::Slice& value, std::string*,
                    std::string*) const override {
    return Decide(View(key), View(value));
  }
  // For a value in a blob file. Without this, a compaction would read each of them from the disk. The id is in the row:
  // only kBlobSpaces have such values.
  Decision FilterBlobByKey(int, const rocksdb::Slice& key, std::string*, std::string*) const override {
    return Decide(View(key), {});
  }

 private:
  Decision Decide(std::string_view row, std::string_view value) const {
    Id id;
    if (!read_id_(row, value, id)) return Decision::kKeep;  // not a row of this filter
    if (!known_ || id != last_id_) {
      last_dropped_ = (rows_.*has_dropped)(id);
      last_id_ = id;
      known_ = true;
    }
    if (last_dropped_ && counts_ && ModeOfRow(Space::kElements, row) != StorageMode::kMemory) ++dropped_;
    return last_dropped_ ? Decision::kRemove : Decision::kKeep;
  }

  LazyFree& lazy_free_;
  mutable DroppableRows rows_;  // safe, like the others: one compaction thread owns the filter
  ReadId read_id_;
  const bool counts_;
  mutable uint64_t dropped_ = 0;
  mutable bool known_ = false;
  mutable Id last_id_{};
  mutable bool last_dropped_ = false;
};

// `read_id` finds the keyspace of a row.
template <typename ReadId>
std::unique_ptr<rocksdb::CompactionFilter> MakeKeyspaceFilter(Store& store, ReadId read_id) {
  return std::make_unique<HeadFilter<KeyspaceId, &DroppableRows::HasDropped, ReadId>>(store, read_id, false);
}
template <typename ReadId>
std::unique_ptr<rocksdb::CompactionFilter> MakeCollectionFilter(Store& store, Space space, ReadId read_id) {
  return std::make_unique<HeadFilter<CollectionId, &DroppableRows::HasDroppedCollection, ReadId>>(
      store, read_id, space == Space::kElements);
}

class FilterFactory : public rocksdb::CompactionFilterFactory {
 public:
  FilterFactory(Store& store, Space space) : store_(store), space_(space) {}
  const char* Name() const override { return "cairn.live"; }

  // Filters flushes too: rows that died in a memtable never reach the disk.
  bool ShouldFilterTableFileCreation(rocksdb::TableFileCreationReason reason) const override {
    return reason == rocksdb::TableFileCreationReason::kCompaction ||
           reason == rocksdb::TableFileCreationReason::kFlush;
  }

  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    if (!store_.is_loaded()) return nullptr;
    if (space_ == Space::kElements || space_ == Space::kScores) {
      return MakeCollectionFilter(
          store_, space_, [](std::string_view row, std::string_view, CollectionId& id) { return ReadU64(row, id); });
    }
    if (space_ == Space::kOwners) {
      return MakeKeyspaceFilter(
          store_, [](std::string_view, std::string_view owner, KeyspaceId& id) { return ReadU32(owner, id); });
    }
    if (space_ == Space::kExpiries) {
      return MakeKeyspaceFilter(store_, [](std::string_view row, std::string_view, KeyspaceId& id) {
        uint64_t when;
        return ReadU64(row, when) && ReadU32(row, id);
      });
    }
    return MakeKeyspaceFilter(store_,
                              [](std::string_view row, std::string_view, KeyspaceId& id) { return ReadU32(row, id); });
  }

 private:
  Store& store_;
  const Space space_;
};

}  // namespace

std::shared_ptr<rocksdb::CompactionFilterFactory> MakeFilterFactory(Store& store, Space space) {
  if (space == Space::kMeta) return nullptr;
  return std::make_shared<FilterFactory>(store, space);
}

}  // namespace cairn
