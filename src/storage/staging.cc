// SPDX-License-Identifier: BSD-3-Clause
#include "storage/staging.h"

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

Status Staging::Begin(Transaction& txn) {
  TRY(BeginAlone(txn, 0));
  if (store_.databases().is_staging()) return Status::Io(kStagesAlready);
  std::vector<KeyspaceId> keyspaces;
  for (int db = 0; db < store_.databases().size(); ++db) keyspaces.push_back(TRY(store_.databases().NewKeyspace(db)));
  return Stage(txn, keyspaces);
}

// The mapping is committed before any row uses these numbers: after a crash they must not be used again.
Status Staging::Stage(Transaction& txn, const std::vector<KeyspaceId>& keyspaces) {
  store_.databases().Stage(keyspaces);
  txn.databases().Record();
  Status status = txn.FinishCommand();
  if (status.ok()) status = txn.Commit(CommitMode::kWait);
  if (status.ok()) status = store_.log().Sync();
  if (!status.ok()) End();
  return status;
}

// All stripes are held, so no new number is taken. An earlier FLUSHALL drops only collections below `first`; a later
// one drops none while keyspaces are staged (DatabaseChanges::Replace).
Result<RowCache::Departures> Staging::Begin(Transaction& txn, const std::vector<KeyspaceId>& keyspaces,
                                            const RowNumbers& first, const RowNumbers& next) {
  ASSERT(keyspaces.size() == static_cast<size_t>(store_.databases().size()), "a keyspace for each database");
  TRY(BeginAlone(txn, 0));
  if (store_.databases().is_staging()) return Status::Io(kStagesAlready);
  if (store_.databases().next_keyspace() > first.keyspace || store_.collection_ids().next() > first.collection) {
    return Status::Io("the numbers of the received rows are in use here by now");
  }
  if (next.collection > kCollectionsEnd) return Status::Io("the received rows have numbers that are too large");
  store_.databases().SkipTo(next.keyspace);
  store_.collection_ids().SkipTo(next.collection);
  TRY(store_.collection_ids().Reserve(next.collection, true));
  RowCache::Departures departures = store_.cache().Mark();
  TRY(Stage(txn, keyspaces));
  return departures;
}

Result<bool> Staging::Cache(const RowNumbers& first, const RowNumbers& next) {
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
    const Engine& engine = store_.engine();
    const std::unique_ptr<rocksdb::Iterator> rows(engine.db().NewIterator(options, engine.family(range.space)));
    for (rows->Seek(ToSlice(range.begin.row())); rows->Valid(); rows->Next()) {
      tagged.assign(1, static_cast<char>(range.space));
      tagged.append(rows->key().data(), rows->key().size());
      const std::string_view value(rows->value().data(), rows->value().size());
      if (!store_.cache().InsertIfRoom(tagged, Overlay::HashOf(tagged), value, RowCache::kUnknownUse)) return false;
    }
    TRY(FromRocksDb(rows->status()));
  }
  return true;
}

RowNumbers Staging::FreeNumbers() const { return {store_.databases().next_keyspace(), store_.collection_ids().next()}; }

void Staging::End() {
  if (!store_.databases().is_staging()) return;
  store_.lazy_free().AddFlush(0, store_.databases().EndStaging());
}

}  // namespace cairn
