// SPDX-License-Identifier: BSD-3-Clause
#include "storage/store_snapshot.h"

#include <rocksdb/db.h>

#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "base/log.h"
#include "storage/format.h"
#include "storage/store.h"

namespace cairn {

StoreSnapshot::StoreSnapshot(Store& store) : store_(store) {
  store_.lazy_free().Hold();
  snapshot_ = store_.engine().db().GetSnapshot();
}

StoreSnapshot::~StoreSnapshot() {
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
  options.snapshot = snapshot_;
  options.fill_cache = false;
  auto value = std::make_unique<std::string>();
  const Engine& engine = store_.engine();
  const rocksdb::Status status =
      engine.db().Get(options, engine.family(row.space()), {row.row().data(), row.row().size()}, value.get());
  if (status.IsNotFound()) return RowRef();
  TRY(FromRocksDb(status));
  return RowRef(std::move(value));
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
  rocksdb::ReadOptions options;
  options.snapshot = snapshot_;
  const Engine& engine = store_.engine();
  const std::unique_ptr<rocksdb::Iterator> rows(engine.db().NewIterator(options, engine.family(Space::kMeta)));
  for (rows->Seek(std::string(kCountRowPrefix)); rows->Valid(); rows->Next()) {
    uint32_t worker;
    KeyspaceId keyspace;
    if (!ParseCountRow({rows->key().data(), rows->key().size()}, worker, keyspace)) break;
    const int64_t count = TRY(DecodeCount({rows->value().data(), rows->value().size()}));
    sums[keyspace] += count;
  }
  TRY(FromRocksDb(rows->status()));
  for (const KeyspaceId keyspace : keyspaces_) keys_.push_back(sums[keyspace]);
  if (databases == SnapshotDatabases::kAll) return Ok();
  const int64_t all_keys = AllKeys();
  keyspaces_.resize(static_cast<size_t>(store_.databases().size()));
  keys_.resize(keyspaces_.size());
  if (all_keys > AllKeys()) WarnOfRest(all_keys - AllKeys());
  return Ok();
}

void StoreSnapshot::WarnOfRest(int64_t keys) const {
  Log(LogSeverity::kWarning,
      "storage: {} keys are left out of a copy of the data: their databases are beyond the {} of `databases`. Start "
      "with more, or use cairn-export, which copies all.",
      keys, store_.databases().size());
}

}  // namespace cairn
