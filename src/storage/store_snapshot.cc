// SPDX-License-Identifier: BSD-3-Clause
#include "storage/store_snapshot.h"

#include <rocksdb/db.h>

#include <numeric>
#include <string>
#include <utility>

#include "base/log.h"
#include "storage/format.h"
#include "storage/read_row.h"
#include "storage/slice.h"
#include "storage/store.h"

namespace cairn {

// The engine in memory is looked up after the snapshot of the disk, which may have the first database in memory.
StoreSnapshot::StoreSnapshot(Store& store) : store_(store) {
  store_.lazy_free().Hold();
  const WriterLock lock(store_.engines().commit_mutex());
  snapshot_ = store_.engine().db().GetSnapshot();
  memory_ = store_.engines().memory();
  if (memory_ != nullptr) memory_snapshot_ = memory_->db().GetSnapshot();
}

StoreSnapshot::~StoreSnapshot() {
  if (memory_ != nullptr) memory_->db().ReleaseSnapshot(memory_snapshot_);
  store_.engine().db().ReleaseSnapshot(snapshot_);
  store_.lazy_free().Release();
}

Result<std::unique_ptr<StoreSnapshot>> StoreSnapshot::Take(Store& store, SnapshotDatabases databases) {
  std::unique_ptr<StoreSnapshot> snapshot(new StoreSnapshot(store));
  store.log().MakeReadable();  // the snapshot includes appended commits that are not visible yet
  TRY(snapshot->Load(databases));
  return snapshot;
}

uint64_t StoreSnapshot::sequence() const { return snapshot_->GetSequenceNumber(); }

int64_t StoreSnapshot::AllKeys() const { return std::accumulate(keys_.begin(), keys_.end(), int64_t{0}); }

Result<RowRef> StoreSnapshot::Get(const RowKey& row) const {
  rocksdb::ReadOptions options;
  const StorageMode mode = ModeOfRow(row.space(), row.row());
  options.snapshot = rocksdb(mode);
  options.fill_cache = false;
  rocksdb::PinnableSlice value;
  const RowPlace place = store_.engines().PlaceOf(row.space(), mode);
  const rocksdb::Status status = place.db.Get(options, place.family, ToSlice(row.row()), &value);
  if (status.IsNotFound()) return RowRef();
  TRY(FromRocksDb(status));
  return KeepRow(std::move(value));
}

Result<std::string> StoreSnapshot::ReadNote(std::string_view name) const {
  const RowRef row = TRY(Get(MakeMetaRow(name)));
  return row ? std::string(row.bytes()) : std::string();
}

// The databases' keyspaces and key counts are rows too.
Status StoreSnapshot::Load(SnapshotDatabases databases) {
  const RowRef row = TRY(Get(MakeMetaRow(kDatabasesRow)));
  if (!row) return Status::Corruption("meta row databases: missing");
  KeyspaceId next;
  TRY(DecodeDatabases(row.bytes(), keyspaces_, next));
  std::map<KeyspaceId, int64_t> sums;
  TRY(AddCounts(StorageMode::kSsd, sums));
  if (memory_ != nullptr) TRY(AddCounts(StorageMode::kMemory, sums));
  for (const KeyspaceId keyspace : keyspaces_) keys_.push_back(sums[keyspace]);
  if (databases == SnapshotDatabases::kAll) return Ok();
  const int64_t all_keys = AllKeys();
  keyspaces_.resize(static_cast<size_t>(store_.databases().size()));
  keys_.resize(keyspaces_.size());
  if (all_keys > AllKeys()) WarnOfRest(all_keys - AllKeys());
  return Ok();
}

Status StoreSnapshot::AddCounts(StorageMode mode, std::map<KeyspaceId, int64_t>& sums) const {
  rocksdb::ReadOptions options;
  options.snapshot = rocksdb(mode);
  const RowPlace place = store_.engines().PlaceOf(Space::kMeta, mode);
  const std::unique_ptr<rocksdb::Iterator> rows(place.db.NewIterator(options, place.family));
  for (rows->Seek(std::string(kCountRowPrefix)); rows->Valid(); rows->Next()) {
    uint32_t worker;
    KeyspaceId keyspace;
    if (!ParseCountRow({rows->key().data(), rows->key().size()}, worker, keyspace)) break;
    const int64_t count = TRY(DecodeCount({rows->value().data(), rows->value().size()}));
    sums[keyspace] += count;
  }
  return FromRocksDb(rows->status());
}

void StoreSnapshot::WarnOfRest(int64_t keys) const {
  Log(LogSeverity::kWarning,
      "storage: {} keys are left out of a copy of the data: their databases are beyond the {} of `databases`. Start "
      "with more, or use cairn-export, which copies all.",
      keys, store_.databases().size());
}

}  // namespace cairn
