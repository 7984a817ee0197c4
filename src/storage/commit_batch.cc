// SPDX-License-Identifier: BSD-3-Clause
#include "storage/commit_batch.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/end_process.h"
#include "base/pages.h"
#include "encoding/log_entry.h"
#include "encoding/record.h"
#include "encoding/varint.h"
#include "storage/batch.h"
#include "storage/format.h"
#include "storage/slice.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr size_t kSmallCommit = 1 << 20;  // any process has room for it
constexpr size_t kCopies = 4;             // in the batch, twice while it grows; in a memtable; in the key cache

// Whether the process may allocate what a commit of so many bytes needs. RocksDB ends the process if it may not.
bool HasRoomFor(size_t bytes) {
  if (bytes < kSmallCommit) return true;
  void* const room = mmap(nullptr, kCopies * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && munmap(room, kCopies * bytes) == 0;
}

// A commit of this many rows evicts the key cache's slots for the first ones from the processor's cache before their
// turn. So slots are prefetched this many rows ahead, and the rows half as many.
constexpr size_t kManyRows = 256;
constexpr size_t kRowsAhead = 16;

// Memory that a transaction keeps from tick to tick.
constexpr size_t kKeptBatchBytes = 1 << 20;
constexpr size_t kKeptRows = 1 << 13;
// What a batch with a large value has besides rows and log data: lengths, counts, notes.
constexpr size_t kBatchReserve = 64 << 10;
// The prefixes that most rows of one batch share: the keyspace, the collection id.
constexpr size_t kKeyRowHead = 4;
constexpr size_t kCollectionRowHead = 8;

// The header of the committed key with this row; nullopt if there is none. Reads the disk.
std::optional<RecordHeader> HeaderOf(const RowEngines& engines, std::string_view key_row) {
  rocksdb::PinnableSlice value;
  if (!engines.Get(rocksdb::ReadOptions(), Space::kKeys, key_row, value).ok()) return std::nullopt;
  const Result<Record> record = DecodeRecord({value.data(), value.size()});
  return record.ok() ? std::optional(record->header) : std::nullopt;
}

// Whether a committed key with this row exists and has not expired.
bool IsLive(const RowEngines& engines, std::string_view key_row) {
  const std::optional<RecordHeader> header = HeaderOf(engines, key_row);
  return header && (header->expire_ms == kNoExpiry || header->expire_ms > WallMs());
}

bool IsStream(const RowEngines& engines, std::string_view key_row) {
  const std::optional<RecordHeader> header = HeaderOf(engines, key_row);
  return header && header->type == Type::kStream;
}

// The log data is the last in a batch.
std::string_view LogDataOf(const rocksdb::WriteBatch& batch, size_t size) {
  const std::string_view bytes = batch.Data();
  return bytes.substr(bytes.size() - size);
}

}  // namespace

CommitBatch::CommitBatch(const Parts& parts)
    : parts_(parts), batch_(std::make_unique<rocksdb::WriteBatch>()),
      memory_batch_(std::make_unique<rocksdb::WriteBatch>()) {}

CommitBatch::~CommitBatch() = default;

bool CommitBatch::dirty() const {
  return !parts_.rows.empty() || !parts_.databases.keyspaces().empty() || !parts_.replicated_commands.empty() ||
         parts_.actions.is_needed();
}

// Rows enter the batch roughly in key order: a memtable filled in order finds the next position near the last one
// (memtable_insert_with_hint_prefix_extractor), which about halves the cost of a write.
void CommitBatch::SortEntries() {
  order_.clear();
  const std::vector<Overlay::Entry>& entries = parts_.rows.entries();
  for (uint32_t i = 0; i < entries.size(); ++i) {
    const Overlay::Entry& entry = entries[i];
    if (entry.state == Overlay::State::kNothing) continue;
    const size_t head = entry.space() == Space::kKeys ? kKeyRowHead : kCollectionRowHead;
    uint64_t rank = 0;
    std::string_view rest = entry.row().substr(std::min(head, entry.row().size()));
    if (!ReadU64(rest, rank)) rank = 0;
    order_.push_back({rank, i});
  }
  if (parts_.store.engine().options().imports) return;  // its memtables keep no order
  std::sort(order_.begin(), order_.end(), [](const EntryOrder& a, const EntryOrder& b) { return a.rank < b.rank; });
}

Status CommitBatch::BuildBatch() {
  batch_->Clear();
  if (memory_batch_->Count() != 0) memory_batch_->Clear();
  moved_.clear();
  // A batch that doubles its size while it grows would copy the values that it has.
  if (parts_.rows.bytes() >= kLargeValueBytes) batch_ = std::make_unique<rocksdb::WriteBatch>(bytes() + kBatchReserve);
  SortEntries();
  TRY(AddRows());
  TRY(AddCounts());
  rocksdb::ColumnFamilyHandle* const meta = parts_.store.engine().family(Space::kMeta);
  if (!parts_.databases.keyspaces().empty()) TRY(PutKeyspaces());
  for (const auto& [name, value] : parts_.actions.notes()) TRY(PutRow(*batch_, meta, name, value));
  if (!parts_.replicated_commands.empty()) TRY(AddLogData());
  MoveValues();
  return Ok();
}

Status CommitBatch::AddLogData() {
  // Log readers go by sequence numbers, and a batch without rows takes none, so one row is added. The log data comes
  // last: where RocksDB writes several batches as one record, the rows before it tell whose it is
  // (storage/log_reader.cc).
  rocksdb::ColumnFamilyHandle* const meta = parts_.store.engine().family(Space::kMeta);
  if (batch_->Count() == 0) TRY(PutRow(*batch_, meta, MakeMetaRow(kLogRow).row(), {}));
  const std::string_view commands = parts_.replicated_commands.bytes();
  TRY(PutLogData(*batch_, commands));
  // As large values, see MoveLast. A tick of the fast lane may be built again.
  if (commands.size() >= kLargeValueBytes && parts_.command.lane() == Lane::kSlow) DiscardPages(commands);
  return Ok();
}

Status CommitBatch::AddRows() {
  const RowEngines& engines = parts_.store.engines();
  for (const EntryOrder& order : order_) {
    const Overlay::Entry& entry = parts_.rows.entries()[order.entry];
    const StorageMode mode = ModeOfRow(entry.space(), entry.row());
    rocksdb::ColumnFamilyHandle* const family = engines.PlaceOf(entry.space(), mode).family;
    if (entry.state == Overlay::State::kPut) {
      TRY(PutRow(BatchOf(mode), family, entry.row(), entry.value));
      if (entry.value.size() >= kLargeValueBytes) [[unlikely]]
        MoveLast(order.entry, BatchOf(mode));
    } else {
      TRY(DeleteRow(BatchOf(mode), family, entry.row()));
    }
  }
  return Ok();
}

// So memory never holds a large value three times: in the overlay, in the batch and in the memtable. No other thread
// reads the overlay: the tick is of the slow lane (Transaction::Put).
void CommitBatch::MoveLast(uint32_t entry, const rocksdb::WriteBatch& batch) {
  const std::string_view value = parts_.rows.entries()[entry].value;
  moved_.push_back({entry, &batch, batch.GetDataSize() - value.size(), value.size()});
  DiscardPages(value);
}

// Called when the batches are complete, and their bytes stay where they are.
void CommitBatch::MoveValues() {
  for (const MovedValue& moved : moved_) {
    parts_.rows.MoveValue(moved.entry, {moved.batch->Data().data() + moved.offset, moved.size});
  }
  moved_.clear();
}

Status CommitBatch::AddCounts() {
  for (const KeyCountDelta& count : parts_.databases.counts()) {
    if (count.delta == 0) continue;
    const RowKey row = MakeCountRow(parts_.committer, count.keyspace);
    const StorageMode mode = ModeOfKeyspace(count.keyspace);
    rocksdb::ColumnFamilyHandle* const family = parts_.store.engines().PlaceOf(Space::kMeta, mode).family;
    TRY(PutRow(BatchOf(mode), family, row.row(), EncodeCount(parts_.databases.SumOf(count.keyspace))));
  }
  return Ok();
}

Status CommitBatch::PutKeyspaces() {
  DatabaseTable& table = parts_.store.databases();
  for (const KeyspaceId keyspace : parts_.databases.keyspaces()) {
    if (!table.IsLive(keyspace)) table.AddLive(keyspace);
  }
  const RowKey row = MakeMetaRow(kDatabasesRow);
  const std::string value = table.EncodeRow(parts_.databases.keyspaces());
  return PutRow(*batch_, parts_.store.engine().family(Space::kMeta), row.row(), value);
}

void CommitBatch::FetchAhead(size_t entry) const {
  const std::vector<Overlay::Entry>& entries = parts_.rows.entries();
  const size_t place = entry + kRowsAhead;
  const size_t row = entry + kRowsAhead / 2;
  if (place < entries.size()) parts_.store.cache().Prefetch(entries[place].hash);
  if (row < entries.size()) parts_.store.cache().PrefetchRow(entries[row].hash);
}

void CommitBatch::ApplyToCache() {
  const std::vector<Overlay::Entry>& entries = parts_.rows.entries();
  const bool fetches_ahead = entries.size() >= kManyRows;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Overlay::Entry& entry = entries[i];
    if (fetches_ahead) FetchAhead(i);
    if (!RowCache::Keeps(entry.space())) continue;
    if (parts_.store.engine().options().imports) {
      parts_.store.names().Add(entry.hash);
    } else if (entry.state == Overlay::State::kPut) {
      parts_.store.cache().Insert(entry.tagged, entry.hash, entry.value, parts_.command.now_s());
    } else if (entry.state == Overlay::State::kDeleted) {
      parts_.store.cache().Erase(entry.tagged, entry.hash);
    }
  }
  parts_.uses.Apply();
}

// Every FLUSHDB leaves a sum of a dead keyspace, and each commit scans all sums. Once there are more sums than
// keyspaces, the dead ones and their rows are deleted. If that fails now, the next commit tries again.
void CommitBatch::DropDeadCounts() {
  const DatabaseTable& table = parts_.store.databases();
  std::vector<KeyCountDelta>& counts = parts_.databases.committed();
  if (counts.size() <= table.live_count()) return;
  rocksdb::WriteBatch batch;
  std::vector<KeyCountDelta> alive;
  for (const KeyCountDelta& count : counts) {
    if (table.IsLive(count.keyspace)) {
      alive.push_back(count);
    } else if (ModeOfKeyspace(count.keyspace) != StorageMode::kMemory) {
      const RowKey row = MakeCountRow(parts_.committer, count.keyspace);
      if (!DeleteRow(batch, parts_.store.engine().family(Space::kMeta), row.row()).ok()) return;
    }
  }
  rocksdb::WriteOptions options;
  options.no_slowdown = true;
  WriteAheadLog& log = parts_.store.log();
  if (!log.Write(options, batch).ok()) return;
  log.NoteReadable(batch, {});
  counts = std::move(alive);
}

Status CommitBatch::Write(CommitMode mode) {
  TRY(Append(mode));
  if (unsynced_) parts_.store.log().MakeDurable(unsynced_sequence_);
  Publish();
  return Ok();
}

Status CommitBatch::Append(CommitMode mode) {
  if (!dirty()) return Ok();
  if (parts_.replicated_commands.empty() || parts_.replicated_commands.is_muted()) return AppendBatch(mode);
  // Commands without keys (PUBLISH) hold no stripe, so a thread that locks all stripes to end the log does not wait
  // for them. The gate closes that gap.
  const auto gate = parts_.store.interests().AllowReplication();
  if (!(parts_.store.interests().wanted() & kInterestInReplication)) parts_.replicated_commands.Clear();
  return AppendBatch(mode);
}

Status CommitBatch::AppendBatch(CommitMode mode) {
  // The reservation must be on disk before any row is written under a collection's id.
  const CollectionId ids_end = parts_.actions.ids_end();
  if (ids_end != 0) TRY(parts_.store.collection_ids().Reserve(ids_end, mode != CommitMode::kNoWait));
  if (!HasRoomFor(bytes())) return Status::Io(kNoMemoryForCommit);
  TRY(BuildBatch());
  parts_.stripes.Advance();
  Status written = WriteBatches(mode);
  if (!written.ok()) {
    unsynced_.reset();
    parts_.stripes.Advance();
    return written;
  }
  is_appended_ = true;
  if (batch_->Count() == 0 || mode == CommitMode::kNoLog) {
    unsynced_.reset();
  } else {
    unsynced_sequence_ = SequenceOf(*batch_) + batch_->Count() - 1;
  }
  return Ok();
}

Status CommitBatch::WriteBatches(CommitMode mode) {
  if (memory_batch_->Count() == 0) return WriteDiskBatch(mode);
  RowEngines& engines = parts_.store.engines();
  if (mode != CommitMode::kNoWait) {
    engines.commit_mutex().ReaderLock();
  } else if (engines.memory()->write_stalls().totals().state == WriteStalls::State::kStopped ||
             !engines.commit_mutex().ReaderTryLock()) {
    return Status::WouldWait();
  }
  Status written = WriteDiskBatch(mode);
  if (written.ok()) written = WriteMemoryBatch();
  engines.commit_mutex().ReaderUnlock();
  return written;
}

Status CommitBatch::WriteDiskBatch(CommitMode mode) {
  if (batch_->Count() == 0) return Ok();
  rocksdb::WriteOptions options;
  options.no_slowdown = mode == CommitMode::kNoWait;
  options.disableWAL = mode == CommitMode::kNoLog;
  if (must_sync()) unsynced_.emplace(parts_.store.log());
  return FromRocksDb(parts_.store.log().Write(options, *batch_));
}

// The other batch is in the log by now, so this one cannot be refused any more.
Status CommitBatch::WriteMemoryBatch() {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  const rocksdb::Status written = parts_.store.engines().memory()->db().Write(options, memory_batch_.get());
  if (written.ok()) return Ok();
  if (batch_->Count() != 0) EndProcess("A commit to a database in memory failed: " + written.ToString());
  return FromRocksDb(written);
}

bool CommitBatch::must_sync() const {
  const WriteAheadLog& log = parts_.store.log();
  if (!log.syncs_commits()) return false;
  if (parts_.databases.used_synced() || !parts_.databases.keyspaces().empty()) return true;
  const bool has_notes = !parts_.actions.notes().empty();
  return log.Syncs(WriteAheadLog::kNoDatabase) && (has_notes || !parts_.databases.used_any());
}

void CommitBatch::Publish() {
  if (!std::exchange(is_appended_, false)) return;
  unsynced_.reset();
  if (std::exchange(unsynced_sequence_, 0) != 0)
    parts_.store.log().NoteReadable(*batch_, LogDataOf(*batch_, parts_.replicated_commands.bytes().size()));
  if (parts_.databases.empty_below() != 0) parts_.store.cache().NoteEmptyStore();
  ApplyToCache();
  parts_.databases.Apply();
  if (!parts_.databases.counts().empty()) DropDeadCounts();
  parts_.actions.Run(parts_.store);
  parts_.stripes.Advance();
  NotifyListener();
  parts_.stripes.Release();
}

// Notifies waiters for keys of the changed stripes.
void CommitBatch::NotifyListener() {
  CommitListener* listener = parts_.store.listener();
  if (listener == nullptr) return;
  if (!parts_.databases.keyspaces().empty()) {
    listener->OnKeyspacesChanged(parts_.databases.keyspaces(),
                                 [this](std::string_view row) { return IsLive(parts_.store.engines(), row); });
  }
  CollectionId last_id = 0;
  Space last_space = Space::kElements;
  for (const Overlay::Entry& entry : parts_.rows.entries()) {
    if (entry.state == Overlay::State::kNothing || !listener->IsInterested(entry.stripe)) continue;
    if (entry.space() == Space::kKeys) {
      listener->OnKeyChanged(entry.stripe, entry.row(), entry.state == Overlay::State::kPut);
    } else if (entry.space() == Space::kElements || entry.space() == Space::kScores) {
      std::string_view row = entry.row();
      CollectionId id = 0;
      if (!ReadU64(row, id)) continue;
      if (id == last_id && (last_space == Space::kElements || entry.space() == last_space)) continue;
      last_id = id;
      last_space = entry.space();
      NotifyOwner(*listener, id, entry);
    }
  }
}

// Notifies waiters for the key of an element or a score, which is found through the owner row.
void CommitBatch::NotifyOwner(CommitListener& listener, CollectionId id, const Overlay::Entry& entry) {
  const RowEngines& engines = parts_.store.engines();
  rocksdb::PinnableSlice owner;
  const RowKey owner_row = MakeOwnerRow(id, entry.stripe);
  if (!engines.Get(rocksdb::ReadOptions(), Space::kOwners, owner_row.row(), owner).ok()) return;
  const std::string_view key_row(owner.data(), owner.size());
  // Each change of a stream's entries writes an element or the key. Its other rows are those of groups.
  if (entry.space() == Space::kScores && IsStream(engines, key_row)) {
    listener.OnGroupsChanged(key_row);
  } else {
    listener.OnKeyChanged(entry.stripe, key_row, true);
  }
}

void CommitBatch::Shrink() {
  if (order_.capacity() > kKeptRows) std::vector<EntryOrder>().swap(order_);
  if (std::max(batch_->GetDataSize(), memory_batch_->GetDataSize()) <= kKeptBatchBytes) return;
  batch_ = std::make_unique<rocksdb::WriteBatch>();  // it may have reserved memory for rows of the other batch
  memory_batch_ = std::make_unique<rocksdb::WriteBatch>();
}

}  // namespace cairn
