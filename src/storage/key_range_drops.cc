// SPDX-License-Identifier: BSD-3-Clause
#include "storage/key_range_drops.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "storage/batch.h"
#include "storage/format.h"
#include "storage/slice.h"
#include "storage/store.h"

namespace cairn {

KeyRangeDrops::KeyRangeDrops(Store& store) : store_(store), committer_(store.NewCommitter()) {}

// The log data goes with a batch to the engine on disk.
Status KeyRangeDrops::WriteToDisk(rocksdb::WriteBatch& batch, const std::function<std::string()>& deletion) {
  const auto gate = store_.interests().AllowReplication();
  std::string entries;
  if (store_.interests().wanted() & kInterestInReplication) entries = deletion();
  if (!entries.empty()) TRY(PutLogData(batch, entries));
  TRY(FromRocksDb(store_.log().Write(rocksdb::WriteOptions(), batch)));
  store_.log().NoteReadable(batch, entries);
  return Ok();
}

Status KeyRangeDrops::WriteInMemory(rocksdb::WriteBatch& batch, const std::function<std::string()>& deletion) {
  rocksdb::WriteBatch logged;
  TRY(PutRow(logged, store_.engine().family(Space::kMeta), MakeMetaRow(kLogRow).row(), {}));
  store_.engines().commit_mutex().ReaderLock();
  Status written = WriteToDisk(logged, deletion);
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  if (written.ok()) written = FromRocksDb(store_.engines().memory()->db().Write(options, &batch));
  store_.engines().commit_mutex().ReaderUnlock();
  return written;
}

Status KeyRangeDrops::Drop(const KeyRange& range, const std::function<std::string()>& deletion) {
  const RowEngines& engines = store_.engines();
  const StorageMode mode = ModeOfKeyspace(range.keyspace);
  rocksdb::WriteBatch batch;
  TRY(DeleteRows(batch, engines.PlaceOf(Space::kKeys, mode).family, range.lower, range.upper));
  for (const RowKey& row : range.side_rows) {
    TRY(DeleteRow(batch, engines.PlaceOf(row.space(), mode).family, row.row()));
  }
  for (const CollectionId id : range.collections) {
    TRY(DeleteRow(batch, engines.PlaceOf(Space::kOwners, mode).family, MakeOwnerRow(id, 0).row()));
  }
  const int64_t sum = sums_[range.keyspace] - range.keys;
  TRY(PutRow(batch, engines.PlaceOf(Space::kMeta, mode).family, MakeCountRow(committer_, range.keyspace).row(),
             EncodeCount(sum)));
  TRY(mode == StorageMode::kMemory ? WriteInMemory(batch, deletion) : WriteToDisk(batch, deletion));
  sums_[range.keyspace] = sum;
  if (Database* const database = store_.databases().Find(range.keyspace)) {
    database->keys.fetch_add(-range.keys, std::memory_order_relaxed);
  }
  for (const CollectionId id : range.collections) store_.lazy_free().AddCollection(id);
  return Ok();
}

}  // namespace cairn
