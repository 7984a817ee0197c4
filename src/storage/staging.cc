// SPDX-License-Identifier: BSD-3-Clause
//
// Staging: a second set of keyspaces, one for each database, that is filled while the databases go on serving and
// then takes their place in one commit (a replica's first transfer, DEBUG RELOAD). Until then nobody sees it, and
// after a crash it is garbage that compaction drops.

#include <rocksdb/db.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "storage/format.h"
#include "storage/overlay.h"
#include "storage/slice.h"
#include "storage/store.h"
#include "storage/transaction.h"

namespace cairn {
namespace {

constexpr size_t kReadaheadBytes = 256 * 1024;
constexpr char kStagesAlready[] = "another data set is being loaded";

}  // namespace

Status Store::BeginStaging(Transaction& txn) {
  TRY(txn.BeginAlone(0));
  if (databases_.is_staging()) return Status::Io(kStagesAlready);
  std::vector<KeyspaceId> keyspaces;
  for (int db = 0; db < databases_.size(); ++db) keyspaces.push_back(TRY(databases_.NewKeyspace()));
  return Stage(txn, keyspaces);
}

// The numbers are written down before a row is filed under one of them: after a crash they must not be given out again.
Status Store::Stage(Transaction& txn, const std::vector<KeyspaceId>& keyspaces) {
  databases_.Stage(keyspaces);
  txn.databases().Record();
  Status status = txn.FinishCommand();
  if (status.ok()) status = txn.Commit(CommitMode::kWait);
  if (status.ok()) status = SyncLog();
  if (!status.ok()) EndStaging();
  return status;
}

// With every stripe held nobody draws a number. A FLUSHALL before this gives up collections below `first` at most, one
// after it none as long as something is staged (DatabaseChanges::Replace).
Result<RowCache::Departures> Store::BeginStaging(Transaction& txn, const std::vector<KeyspaceId>& keyspaces,
                                                 const RowNumbers& first, const RowNumbers& next) {
  ASSERT(keyspaces.size() == static_cast<size_t>(databases_.size()), "a keyspace for each database");
  TRY(txn.BeginAlone(0));
  if (databases_.is_staging()) return Status::Io(kStagesAlready);
  if (databases_.next_keyspace() > first.keyspace || next_collection_ > first.collection) {
    return Status::Io("the numbers of the rows that came are in use by now");
  }
  if (next.collection > kCollectionsEnd) return Status::Io("the rows that came have numbers that are too large");
  databases_.SkipTo(next.keyspace);
  next_collection_ = next.collection;
  TRY(ReserveCollectionIds(next.collection, true));
  RowCache::Departures departures = cache_.Mark();
  TRY(Stage(txn, keyspaces));
  return departures;
}

Result<bool> Store::CacheStaged(const RowNumbers& first, const RowNumbers& next) {
  struct Range {
    Space space;
    RowKey begin, end;
  };
  const std::array<Range, 2> ranges = {
      Range{Space::kKeys, MakeKeyBound(first.keyspace, 0), MakeKeyBound(next.keyspace, 0)},
      Range{Space::kElements, MakeCollectionStart(Space::kElements, first.collection, 0),
            MakeCollectionStart(Space::kElements, next.collection, 0)}};
  std::string tagged;
  for (const Range& range : ranges) {
    const rocksdb::Slice end = ToSlice(range.end.row());
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    options.readahead_size = kReadaheadBytes;
    options.iterate_upper_bound = &end;
    const std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator(options, family(range.space)));
    for (rows->Seek(ToSlice(range.begin.row())); rows->Valid(); rows->Next()) {
      tagged.assign(1, static_cast<char>(range.space));
      tagged.append(rows->key().data(), rows->key().size());
      const std::string_view value(rows->value().data(), rows->value().size());
      if (!cache_.InsertIfRoom(tagged, Overlay::HashOf(tagged), value, RowCache::kUnknownUse)) return false;
    }
    TRY(FromRocksDb(rows->status()));
  }
  return true;
}

void Store::EndStaging() {
  if (!databases_.is_staging()) return;
  databases_.EndStaging();
  lazy_free_.AddFlush(0);
}

// A hold covers what was alive when it began. Files that are being dropped go first.
void Store::HoldDead() {
  dead_holds_.fetch_add(1);
  lazy_free_.Pass();
}

}  // namespace cairn
