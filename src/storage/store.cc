// SPDX-License-Identifier: BSD-3-Clause
#include "storage/store.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/file_system.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/statistics.h>
#include <rocksdb/write_batch.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>

#include "base/clock.h"
#include "encoding/record.h"
#include "encoding/varint.h"
#include "storage/batch.h"
#include "storage/disk_reserve.h"
#include "storage/disk_room.h"
#include "storage/flush_nudge.h"
#include "storage/format.h"
#include "storage/slice.h"
#include "storage/tuning.h"

namespace cairn {
namespace {

constexpr CollectionId kIdReservation = 1 << 20;

// Of what the budget leaves to the process itself. What is sent at full speed between two looks at the log, and then
// some; more would be memory that is written once and has left the processor's cache when it is read.
uint64_t LogTailBytes(const Budget& budget) {
  constexpr uint64_t kLeast = 1 << 20;
  constexpr uint64_t kMost = 4 << 20;
  return std::clamp(budget.total / 64, kLeast, kMost);
}

}  // namespace

Status FromRocksDb(const rocksdb::Status& status) {
  if (status.ok()) return Ok();
  if (status.IsIncomplete()) return Status::WouldWait();
  if (status.IsCorruption()) return Status::Corruption(status.ToString());
  return Status::Io(status.ToString());
}

Store::Store(const StoreOptions& options)
    : options_(FitToDisk(options)), disk_reserve_(std::make_unique<DiskReserve>(options.dir)),
      cache_(options.imports ? 0 : options.budget.key_cache), names_(options.budget.key_cache),
      rank_indexes_(stripes_, options.budget.rank_indexes + options.budget.lendable),
      log_tail_(LogTailBytes(options.budget)), budget_(options.budget),
      databases_(options.databases) {}

Store::~Store() {
  if (db_ == nullptr) return;
  PrepareClose();
  rocksdb::CancelAllBackgroundWork(db_.get(), true);
  for (rocksdb::ColumnFamilyHandle* family : families_) db_->DestroyColumnFamilyHandle(family);
  db_->Close();
  if (ends_with_process_) cache_.Disown();
}

Result<std::unique_ptr<Store>> Store::Open(const StoreOptions& options) {
  std::unique_ptr<Store> store(new Store(options));
  TRY(store->OpenDb());
  TRY(store->Load());
  store->loaded_ = true;
  for (rocksdb::ColumnFamilyHandle* family : store->families_) {
    TRY(FromRocksDb(store->db_->SetOptions(family, LoadedOptions(store->options_))));
  }
  return store;
}

// ---- what is known about the data as a whole

Status Store::Load() {
  std::string version;
  const RowKey row = MakeMetaRow(kFormatRow);
  const rocksdb::Status found =
      db_->Get(rocksdb::ReadOptions(), family(Space::kMeta),
               ToSlice(row.row()), &version);
  if (!found.ok() && !found.IsNotFound()) return FromRocksDb(found);
  if (found.ok()) TRY(CheckFormat(version));
  if (version != EncodeFormat()) {  // new, or of an older format, which this one contains
    rocksdb::WriteBatch batch;
    TRY(PutRow(batch, family(Space::kMeta), row.row(), EncodeFormat()));
    TRY(FromRocksDb(db_->Write(rocksdb::WriteOptions(), &batch)));
  }
  TRY(LoadDatabases());
  TRY(LoadCounts());
  was_empty_ = !databases_.hides_any() && !databases_.has_keys();
  if (was_empty_) {
    cache_.NoteEmptyStore();
    names_.NoteEmptyStore();
  }
  std::string reserved;
  const RowKey ids = MakeMetaRow(kCollectionsRow);
  const rocksdb::Status read = db_->Get(rocksdb::ReadOptions(), family(Space::kMeta),
                                        ToSlice(ids.row()), &reserved);
  if (!read.ok() && !read.IsNotFound()) return FromRocksDb(read);
  CollectionId next = 1;
  std::string_view bytes(reserved);
  if (read.ok() && !ReadVarint(bytes, next)) return Status::Corruption("meta row collections: cut short");
  if (next > kCollectionsEnd) return Status::Corruption("meta row collections: the number is too large");
  next_collection_ = next;
  reserved_collections_ = next;
  return Ok();
}

Status Store::LoadDatabases() {
  std::string value;
  const RowKey row = MakeMetaRow(kDatabasesRow);
  const rocksdb::Slice key(row.row().data(), row.row().size());
  const rocksdb::Status found = db_->Get(rocksdb::ReadOptions(), family(Space::kMeta), key, &value);
  if (!found.ok() && !found.IsNotFound()) return FromRocksDb(found);
  std::vector<KeyspaceId> keyspaces;
  KeyspaceId next = 1;
  if (found.ok()) TRY(DecodeDatabases(value, keyspaces, next));
  const bool grew = TRY(databases_.Load(std::move(keyspaces), next));
  if (!grew) return Ok();
  return FromRocksDb(db_->Put(rocksdb::WriteOptions(), family(Space::kMeta), key,
                              databases_.EncodeRow(databases_.keyspaces())));
}

// Sums the workers' count rows and folds them into one of worker 0.
Status Store::LoadCounts() {
  std::map<KeyspaceId, int64_t> sums;
  rocksdb::WriteBatch batch;
  std::unique_ptr<rocksdb::Iterator> rows(
      db_->NewIterator(rocksdb::ReadOptions(), family(Space::kMeta)));
  for (rows->Seek(std::string(kCountRowPrefix)); rows->Valid(); rows->Next()) {
    uint32_t worker;
    KeyspaceId keyspace;
    if (!ParseCountRow({rows->key().data(), rows->key().size()}, worker, keyspace)) break;
    const int64_t count = TRY(DecodeCount({rows->value().data(), rows->value().size()}));
    TRY(DeleteRow(batch, family(Space::kMeta), {rows->key().data(), rows->key().size()}));
    if (databases_.IsLive(keyspace)) sums[keyspace] += count;
  }
  TRY(FromRocksDb(rows->status()));
  for (const auto& [keyspace, count] : sums) {
    const RowKey row = MakeCountRow(0, keyspace);
    TRY(PutRow(batch, family(Space::kMeta), row.row(), EncodeCount(count)));
    if (Database* database = databases_.Find(keyspace)) database->keys = count;
  }
  return FromRocksDb(db_->Write(rocksdb::WriteOptions(), &batch));
}

// Ids below the reservation are never handed out again after a restart, whatever became of them. The next one is made
// when half of it is used, so a disk that refuses it at that moment refuses nothing else.
Status Store::ReserveCollectionIds(CollectionId end, bool may_wait) {
  const CollectionId reserved = reserved_collections_.load(std::memory_order_acquire);
  const bool is_reserved = end <= reserved;
  if (is_reserved && (reserved - end >= kIdReservation / 2 || !writable())) return Ok();
  std::unique_lock lock(ids_mutex_, std::defer_lock);
  if (is_reserved || !may_wait) {
    if (!lock.try_lock()) return is_reserved ? Ok() : Status::WouldWait();
  } else {
    lock.lock();
  }
  if (reserved_collections_ >= end && reserved_collections_ > reserved) return Ok();  // somebody else has done it
  Status status = WriteReservation(end + kIdReservation, may_wait && !is_reserved);
  return is_reserved ? Ok() : std::move(status);
}

Status Store::WriteReservation(CollectionId end, bool may_wait) {
  std::string value;
  AppendVarint(value, end);
  rocksdb::WriteBatch batch;
  TRY(PutRow(batch, family(Space::kMeta), MakeMetaRow(kCollectionsRow).row(), value));
  rocksdb::WriteOptions options;
  options.no_slowdown = !may_wait;
  Status status = FromRocksDb(Write(options, batch));
  if (status.ok()) NoteReadable(batch, {});
  if (status.ok()) reserved_collections_.store(end, std::memory_order_release);
  return status;
}

bool Store::IsLiveCollection(CollectionId id) {
  const RowKey row = MakeOwnerRow(id, 0);
  rocksdb::PinnableSlice owner;
  const rocksdb::Status found =
      db_->Get(rocksdb::ReadOptions(), family(Space::kOwners),
               ToSlice(row.row()), &owner);
  if (found.IsNotFound()) return false;
  KeyRowParts parts;
  if (!found.ok() || !ParseKeyRow({owner.data(), owner.size()}, parts)) return true;  // when in doubt, keep
  return databases_.IsLive(parts.keyspace);
}

// ---- maintenance

Status Store::CompactAll() {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.exclusive_manual_compaction = false;
  const FlushNudge nudge(*db_, families_);
  // Owners go first: what they no longer name, the other families drop.
  for (const Space space : {Space::kOwners, Space::kKeys, Space::kElements, Space::kScores,
                            Space::kExpiries, Space::kMeta}) {
    TRY(FromRocksDb(db_->CompactRange(options, family(space), nullptr, nullptr)));
  }
  return Ok();
}

void Store::Fetch(std::string_view tagged_row) {
  rocksdb::PinnableSlice value;
  const auto space = static_cast<Space>(tagged_row[0]);
  // What cannot be read is told to the command that reads it next.
  (void)db_->Get(rocksdb::ReadOptions(), family(space), ToSlice(tagged_row.substr(1)), &value);
}

Result<std::string> Store::ReadNote(std::string_view name) const {
  std::string value;
  const rocksdb::Status found = db_->Get(rocksdb::ReadOptions(), families_[static_cast<int>(Space::kMeta)],
                                         ToSlice(name), &value);
  if (!found.ok() && !found.IsNotFound()) return FromRocksDb(found);
  return value;
}

rocksdb::Status Store::Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch& batch) {
  // RocksDB accepts writes after some errors, but what fails next is then more than it recovers from.
  if (!writable()) return rocksdb::Status::IOError(write_error());
  return db_->Write(options, &batch);
}

void Store::NoteReadable(const rocksdb::WriteBatch& batch, std::string_view entries) {
  if (log_tail_.is_on()) log_tail_.Note(SequenceOf(batch), static_cast<uint64_t>(batch.Count()), entries);
}

Status Store::Flush() {
  const FlushNudge nudge(*db_, families_);
  return FromRocksDb(db_->Flush(rocksdb::FlushOptions(), families_));
}

bool Store::IsLive(std::string_view key_row) {
  rocksdb::PinnableSlice value;
  const rocksdb::Slice row(key_row.data(), key_row.size());
  if (!db_->Get(rocksdb::ReadOptions(), family(Space::kKeys), row, &value).ok()) return false;
  const Result<Record> record = DecodeRecord({value.data(), value.size()});
  return record.ok() && (record->header.expire_ms == kNoExpiry || record->header.expire_ms > WallMs());
}

void Store::SetInterest(InterestMask which, InterestMask wanted) {
  InterestMask current = interest_.load();
  while (!interest_.compare_exchange_weak(current, (current & ~which) | (wanted & which))) {
  }
}

void Store::EndEffects() {
  SetInterest(kInterestInEffects, 0);
  const std::lock_guard wait(effects_mutex_);
  if (syncs_commits()) MakeDurable(LatestSequence());  // what was appended meanwhile can be read
}

void Store::SetCompactionRate(uint64_t bytes_per_second) {
  // RocksDB's limiter has no "off"; a rate no disk reaches stands for it.
  rate_limiter_->SetBytesPerSecond(bytes_per_second == 0 ? kUnlimitedRate
                                                         : static_cast<int64_t>(bytes_per_second));
}

void Store::SetBudget(const Budget& budget) {
  {
    const std::lock_guard lock(budget_mutex_);
    budget_ = budget;
    cache_.SetCapacity(budget.key_cache);
  }
  block_cache_->SetCapacity(budget.block_cache);
  write_buffers_->SetBufferSize(std::min(budget.memtables, MostMemtables(options_.dir)));
  rank_indexes_.SetCapacity(budget.rank_indexes + budget.lendable);
}

void Store::Lend(uint64_t client_bytes) {
  constexpr size_t kSteps = 64;  // smaller changes are left for later
  const std::lock_guard lock(budget_mutex_);
  const size_t used = rank_indexes_.bytes();
  const size_t lent = used > budget_.rank_indexes ? std::min<size_t>(used - budget_.rank_indexes, budget_.lendable) : 0;
  const size_t to_clients =
      client_bytes > budget_.clients ? std::min<size_t>(client_bytes - budget_.clients, budget_.lendable) : 0;
  const size_t capacity = budget_.key_cache - lent - to_clients;
  const size_t now = cache_.capacity();
  const size_t change = capacity > now ? capacity - now : now - capacity;
  if (change == 0 || (change < budget_.key_cache / kSteps && lent + to_clients > 0)) return;
  cache_.SetCapacity(capacity);
}

uint64_t Store::Ticker(uint32_t rocksdb_ticker) const { return statistics_->getTickerCount(rocksdb_ticker); }

uint64_t Store::Property(const std::string& name) const {
  uint64_t sum = 0;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    uint64_t value = 0;
    if (db_->GetIntProperty(family, name, &value)) sum += value;
  }
  return sum;
}

std::string Store::TextProperty(const std::string& name, Space space) const {
  std::string value;
  db_->GetProperty(families_[static_cast<int>(space)], name, &value);
  return value;
}

uint64_t Store::MemtableBytes() const { return write_buffers_->memory_usage(); }
uint64_t Store::BlockCacheBytes() const { return block_cache_->GetUsage(); }

}  // namespace cairn
