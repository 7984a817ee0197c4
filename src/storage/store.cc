// SPDX-License-Identifier: BSD-3-Clause
#include "storage/store.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <algorithm>

#include "storage/batch.h"
#include "storage/compaction.h"
#include "storage/format.h"
#include "storage/overlay.h"
#include "storage/slice.h"

namespace cairn {
Store::Store(const StoreOptions& options)
    : engine_(options), engines_(engine_, [this](Space space) { return MakeFilterFactory(*this, space); }),
      recovery_(engine_), log_(engine_, recovery_), ids_(engine_, recovery_, log_),
      disk_room_(engine_, recovery_, log_), cache_(options.imports ? 0 : options.budget.key_cache),
      names_(options.budget.key_cache),
      rank_indexes_(stripes_, options.budget.rank_indexes + options.budget.rank_index_extra),
      memory_(engine_, cache_, rank_indexes_, options.budget), databases_(options.databases, options.modes),
      staging_(*this), compactor_(*this) {}

Store::~Store() {
  if (!engine_.is_open()) return;
  recovery_.PrepareClose();
  compactor_.Stop();
  engines_.CloseMemory();
  engine_.Close();
  if (ends_with_process_) cache_.Disown();
}

Result<std::unique_ptr<Store>> Store::Open(const StoreOptions& options) {
  std::unique_ptr<Store> store(new Store(options));
  TRY(store->engine_.Open(store->engines_.filter_of(),
                          {store->recovery_.MakeListener(), store->compactor_.MakeListener()}));
  TRY(store->Load());
  store->loaded_ = true;
  TRY(store->engine_.StartCompactions());
  return store;
}

Status Store::Load() {
  std::string version;
  const RowKey row = MakeMetaRow(kFormatRow);
  const rocksdb::Status found =
      engine_.db().Get(rocksdb::ReadOptions(), engine_.family(Space::kMeta), ToSlice(row.row()), &version);
  if (!found.ok() && !found.IsNotFound()) return FromRocksDb(found);
  if (found.ok()) TRY(CheckFormat(version));
  if (version != EncodeFormat()) {  // new, or of an older format, which this format includes
    rocksdb::WriteBatch batch;
    TRY(PutRow(batch, engine_.family(Space::kMeta), row.row(), EncodeFormat()));
    TRY(FromRocksDb(engine_.db().Write(rocksdb::WriteOptions(), &batch)));
  }
  TRY(LoadDatabases());
  TRY(LoadCounts());
  TRY(FollowModes());
  was_empty_ = !databases_.hides_any() && !databases_.has_keys();
  if (was_empty_) {
    cache_.NoteEmptyStore();
    names_.NoteEmptyStore();
  }
  TRY(compactor_.Load());
  return ids_.Load();
}

Status Store::LoadDatabases() {
  std::string value;
  const RowKey row = MakeMetaRow(kDatabasesRow);
  const rocksdb::Slice key(row.row().data(), row.row().size());
  const rocksdb::Status found = engine_.db().Get(rocksdb::ReadOptions(), engine_.family(Space::kMeta), key, &value);
  if (!found.ok() && !found.IsNotFound()) return FromRocksDb(found);
  std::vector<KeyspaceId> keyspaces;
  KeyspaceId next = 1;
  if (found.ok()) TRY(DecodeDatabases(value, keyspaces, next));
  const bool grew = TRY(databases_.Load(std::move(keyspaces), next));
  return grew ? WriteDatabases() : Ok();
}

Status Store::WriteDatabases() {
  const RowKey row = MakeMetaRow(kDatabasesRow);
  return FromRocksDb(engine_.db().Put(rocksdb::WriteOptions(), engine_.family(Space::kMeta), ToSlice(row.row()),
                                      databases_.EncodeRow(databases_.keyspaces())));
}

// A database without keys takes the mode of its directive. One that was in memory has none now.
Status Store::FollowModes() {
  if (TRY(databases_.FollowModes())) TRY(WriteDatabases());
  for (int db = 0; db < databases_.size(); ++db) {
    TRY(engines_.Provide(ModeOfKeyspace(databases_[db].keyspace)));
    TRY(engines_.Provide(databases_.mode(db)));  // of its next keyspace
  }
  return Ok();
}

// Adds up the workers' count rows and replaces them by one row of worker 0.
Status Store::LoadCounts() {
  std::map<KeyspaceId, int64_t> sums;
  rocksdb::WriteBatch batch;
  std::unique_ptr<rocksdb::Iterator> rows(
      engine_.db().NewIterator(rocksdb::ReadOptions(), engine_.family(Space::kMeta)));
  for (rows->Seek(std::string(kCountRowPrefix)); rows->Valid(); rows->Next()) {
    uint32_t worker;
    KeyspaceId keyspace;
    if (!ParseCountRow({rows->key().data(), rows->key().size()}, worker, keyspace)) break;
    const int64_t count = TRY(DecodeCount({rows->value().data(), rows->value().size()}));
    TRY(DeleteRow(batch, engine_.family(Space::kMeta), {rows->key().data(), rows->key().size()}));
    if (databases_.IsLive(keyspace)) sums[keyspace] += count;
  }
  TRY(FromRocksDb(rows->status()));
  for (const auto& [keyspace, count] : sums) {
    const RowKey row = MakeCountRow(0, keyspace);
    TRY(PutRow(batch, engine_.family(Space::kMeta), row.row(), EncodeCount(count)));
    if (Database* database = databases_.Find(keyspace)) database->keys = count;
  }
  return FromRocksDb(engine_.db().Write(rocksdb::WriteOptions(), &batch));
}

bool Store::IsLiveCollection(CollectionId id) {
  const RowKey row = MakeOwnerRow(id, 0);
  rocksdb::PinnableSlice owner;
  const rocksdb::Status found = engines_.Get(rocksdb::ReadOptions(), Space::kOwners, row.row(), owner);
  if (found.IsNotFound()) return false;
  KeyRowParts parts;
  if (!found.ok() || !ParseKeyRow({owner.data(), owner.size()}, parts)) return true;  // when in doubt, keep
  return databases_.IsLive(parts.keyspace);
}

uint64_t Store::Prefetch(const RowKey& row) const {
  const uint64_t hash = Overlay::HashOf(row.tagged());
  stripes_.Prefetch(row.stripe());
  cache_.Prefetch(hash);
  return hash;
}

Result<std::string> Store::ReadNote(std::string_view name) const {
  std::string value;
  const rocksdb::Status found =
      engine_.db().Get(rocksdb::ReadOptions(), engine_.family(Space::kMeta), ToSlice(name), &value);
  if (!found.ok() && !found.IsNotFound()) return FromRocksDb(found);
  return value;
}

}  // namespace cairn
