// SPDX-License-Identifier: BSD-3-Clause
//
// The end of a tick: what a Transaction's commands have written becomes one batch in the log, and then what everybody
// sees.
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <shared_mutex>
#include <utility>

#include "encoding/log_entry.h"
#include "encoding/varint.h"
#include "storage/batch.h"
#include "storage/format.h"
#include "storage/slice.h"
#include "storage/store.h"
#include "storage/transaction.h"

namespace cairn {
namespace {

// When so many are committed, the places of the first ones in the key cache have left the processor's cache since they
// were looked for; these are asked for so many rows before their turn, and the rows half as many.
constexpr size_t kManyRows = 256;
constexpr size_t kRowsAhead = 16;

// Memory a transaction keeps from tick to tick.
constexpr size_t kKeptBatchBytes = 1 << 20;
constexpr size_t kKeptRows = 1 << 13;
// What rows that are written together mostly share: the keyspace, the collection id.
constexpr size_t kKeyRowHead = 4;
constexpr size_t kCollectionRowHead = 8;

}  // namespace

bool Transaction::dirty() const {
  return !overlay_.empty() || !databases_.keyspaces().empty() || !effects_.empty() || !notes_.empty() || changes_ != 0;
}

// Rows go into the batch roughly in their order: a memtable that is filled in order finds the next place near the
// last one (memtable_insert_with_hint_prefix_extractor), which about halves the cost of a write.
void Transaction::SortEntries() {
  order_.clear();
  const std::vector<Overlay::Entry>& entries = overlay_.entries();
  for (uint32_t i = 0; i < entries.size(); ++i) {
    const Overlay::Entry& entry = entries[i];
    if (entry.state == Overlay::State::kNothing) continue;
    const size_t head = entry.space() == Space::kKeys ? kKeyRowHead : kCollectionRowHead;
    uint64_t rank = 0;
    std::string_view rest = entry.row().substr(std::min(head, entry.row().size()));
    if (!ReadU64(rest, rank)) rank = 0;
    order_.push_back({rank, i});
  }
  if (store_.imports()) return;  // its memtables keep no order
  std::sort(order_.begin(), order_.end(),
            [](const EntryOrder& a, const EntryOrder& b) { return a.rank < b.rank; });
}

Status Transaction::BuildBatch() {
  batch_->Clear();
  SortEntries();
  rocksdb::ColumnFamilyHandle* const meta = store_.family(Space::kMeta);
  for (const EntryOrder& place : order_) {
    const Overlay::Entry& entry = overlay_.entries()[place.entry];
    if (entry.state == Overlay::State::kPut) {
      TRY(PutRow(*batch_, store_.family(entry.space()), entry.row(), entry.value));
    } else {
      TRY(DeleteRow(*batch_, store_.family(entry.space()), entry.row()));
    }
  }
  for (const KeyCountDelta& count : databases_.counts()) {
    if (count.delta == 0) continue;
    const RowKey row = MakeCountRow(committer_, count.keyspace);
    TRY(PutRow(*batch_, meta, row.row(), EncodeCount(databases_.SumOf(count.keyspace))));
  }
  if (!databases_.keyspaces().empty()) TRY(PutKeyspaces());
  for (const auto& [name, value] : notes_) TRY(PutRow(*batch_, meta, name, value));
  if (effects_.empty()) return Ok();
  // Those who read the log go by sequence numbers, and a batch without rows takes none. The log data comes last: where
  // RocksDB writes several batches as one record, the rows before it tell whose it is (storage/log_reader.cc).
  if (batch_->Count() == 0) TRY(PutRow(*batch_, meta, MakeMetaRow(kLogRow).row(), {}));
  return PutLogData(*batch_, effects_.bytes());
}

Status Transaction::PutKeyspaces() {
  DatabaseTable& table = store_.databases_;
  for (const KeyspaceId keyspace : databases_.keyspaces()) {
    if (!table.IsLive(keyspace)) table.AddLive(keyspace);
  }
  const RowKey row = MakeMetaRow(kDatabasesRow);
  return PutRow(*batch_, store_.family(Space::kMeta), row.row(), table.EncodeRow(databases_.keyspaces()));
}

void Transaction::FetchAhead(size_t entry) const {
  const std::vector<Overlay::Entry>& entries = overlay_.entries();
  const size_t place = entry + kRowsAhead;
  const size_t row = entry + kRowsAhead / 2;
  if (place < entries.size()) store_.cache_.Prefetch(entries[place].hash);
  if (row < entries.size()) store_.cache_.PrefetchRow(entries[row].hash);
}

void Transaction::ApplyToCache() {
  const std::vector<Overlay::Entry>& entries = overlay_.entries();
  const bool fetches_ahead = entries.size() >= kManyRows;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Overlay::Entry& entry = entries[i];
    if (fetches_ahead) FetchAhead(i);
    if (!RowCache::Keeps(entry.space())) continue;
    if (store_.imports()) {
      store_.names_.Add(entry.hash);
    } else if (entry.state == Overlay::State::kPut) {
      store_.cache_.Insert(entry.tagged, entry.hash, entry.value, now_s());
    } else if (entry.state == Overlay::State::kDeleted) {
      store_.cache_.Erase(entry.tagged, entry.hash);
    }
  }
  uses_.Apply();
}

// Every FLUSHDB leaves a sum behind, and each commit looks through them.
void Store::DropDeadCounts(uint32_t committer, std::vector<KeyCountDelta>& counts) {
  if (counts.size() <= databases_.live_count()) return;
  rocksdb::WriteBatch batch;
  std::vector<KeyCountDelta> alive;
  for (const KeyCountDelta& count : counts) {
    if (databases_.IsLive(count.keyspace)) {
      alive.push_back(count);
    } else {
      if (!DeleteRow(batch, family(Space::kMeta), MakeCountRow(committer, count.keyspace).row()).ok()) return;
    }
  }
  rocksdb::WriteOptions options;
  options.no_slowdown = true;
  if (!Write(options, batch).ok()) return;
  NoteReadable(batch, {});
  counts = std::move(alive);
}

Status Transaction::Commit(CommitMode mode) {
  Status status = Write(mode);
  if (!status.Is(Code::kWouldWait)) EndTick(status.ok());
  return status;
}

Status Transaction::Write(CommitMode mode) {
  TRY(Append(mode));
  if (unsynced_sequence_ != 0 && store_.syncs_commits()) store_.MakeDurable(unsynced_sequence_);
  Publish();
  return Ok();
}

Status Transaction::Append(CommitMode mode) {
  if (!dirty()) return Ok();
  if (effects_.empty() || effects_.is_muted()) return AppendBatch(mode);
  // There may be effects of a command without keys (PUBLISH): who locks everybody out to end the log does not wait for
  // its stripes.
  const std::shared_lock gate(store_.effects_mutex_);
  if (!(store_.interest() & kInterestInEffects)) effects_.Clear();
  return AppendBatch(mode);
}

Status Transaction::AppendBatch(CommitMode mode) {
  // A collection's id is on the disk as given out before anything is filed under it.
  if (ids_end_ != 0) TRY(store_.ReserveCollectionIds(ids_end_, mode != CommitMode::kNoWait));
  TRY(BuildBatch());
  stripes_.Advance();
  rocksdb::WriteOptions options;
  options.no_slowdown = mode == CommitMode::kNoWait;
  options.disableWAL = mode == CommitMode::kNoLog;
  const bool has_rows = batch_->Count() != 0;
  const rocksdb::Status written = has_rows ? store_.Write(options, *batch_) : rocksdb::Status::OK();
  if (!written.ok()) {
    stripes_.Advance();
    return FromRocksDb(written);
  }
  is_appended_ = true;
  if (has_rows && !options.disableWAL) unsynced_sequence_ = SequenceOf(*batch_) + batch_->Count() - 1;
  return Ok();
}

void Transaction::Publish() {
  if (!std::exchange(is_appended_, false)) return;
  if (std::exchange(unsynced_sequence_, 0) != 0) store_.NoteReadable(*batch_, effects_.bytes());
  if (databases_.empty_below() != 0) store_.cache_.NoteEmptyStore();
  ApplyToCache();
  databases_.Apply();
  if (!databases_.counts().empty()) store_.DropDeadCounts(committer_, databases_.committed());
  if (changes_ != 0) store_.counters_.changes.Add(changes_);
  if (adopt_) adopt_();
  store_.expiry_start_.Note(earliest_expiry_ms_);
  for (const CollectionId id : dead_collections_) store_.lazy_free_.AddCollection(id);
  stripes_.Advance();
  NotifyListener();
  stripes_.Release();
}

// Tells who waits for keys of the stripes that changed. An element names its key through the owner row.
void Transaction::NotifyListener() {
  CommitListener* listener = store_.listener_;
  if (listener == nullptr) return;
  if (!databases_.keyspaces().empty()) {
    listener->OnKeyspacesChanged(databases_.keyspaces(), [this](std::string_view row) { return store_.IsLive(row); });
  }
  CollectionId last_id = 0;
  for (const Overlay::Entry& entry : overlay_.entries()) {
    if (entry.state == Overlay::State::kNothing || !listener->IsInterested(entry.stripe)) continue;
    if (entry.space() == Space::kKeys) {
      listener->OnKeyChanged(entry.stripe, entry.row(), entry.state == Overlay::State::kPut);
    } else if (entry.space() == Space::kElements || entry.space() == Space::kScores) {
      std::string_view row = entry.row();
      CollectionId id = 0;
      if (!ReadU64(row, id) || id == last_id) continue;
      last_id = id;
      rocksdb::PinnableSlice owner;
      const RowKey owner_row = MakeOwnerRow(id, entry.stripe);
      const rocksdb::Status found = store_.db_->Get(rocksdb::ReadOptions(), store_.family(Space::kOwners),
                                                    ToSlice(owner_row.row()), &owner);
      if (found.ok()) listener->OnKeyChanged(entry.stripe, {owner.data(), owner.size()}, true);
    }
  }
}

void Transaction::Discard() { EndTick(false); }

void Transaction::EndTick(bool written) {
  if (!written && dirty()) ranks_.DropAll(stripes_);
  stripes_.Release();
  Reset();
}

void Transaction::Reset() {
  overlay_.Clear();
  databases_.Clear();
  dead_collections_.clear();
  uses_.Clear();
  ranks_.Clear();
  effects_.Clear();
  changes_ = 0;
  notes_.clear();
  ids_end_ = 0;
  if (pending_ != nullptr) SetPending(nullptr, nullptr);
  earliest_expiry_ms_ = INT64_MAX;
  if (order_.capacity() > kKeptRows) std::vector<EntryOrder>().swap(order_);
  if (batch_->GetDataSize() > kKeptBatchBytes) batch_ = std::make_unique<rocksdb::WriteBatch>();
}

}  // namespace cairn
