// SPDX-License-Identifier: BSD-3-Clause
#include "storage/transaction.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <thread>

#include "encoding/log_entry.h"
#include "encoding/varint.h"
#include "storage/format.h"
#include "storage/rank_index.h"
#include "storage/ready_reads.h"
#include "storage/store.h"
#include "storage/store_snapshot.h"

namespace cairn {
namespace {

// Rows a fast lane command may walk over; about a millisecond (docs/decisions/run-again.md).
constexpr uint64_t kFastLaneSteps = 2048;
// What is out of a table and in the page cache is copied, checked and unpacked: some five microseconds.
constexpr uint64_t kStepsOfRead = 32;
// Memory a transaction keeps from tick to tick.
constexpr size_t kKeptBatchBytes = 1 << 20;
constexpr size_t kKeptRows = 1 << 13;
// What rows that are written together mostly share: the keyspace, the collection id.
constexpr size_t kKeyRowHead = 4;
constexpr size_t kCollectionRowHead = 8;

rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

bool IsCached(Space space) { return space == Space::kKeys || space == Space::kElements; }

}  // namespace

Transaction::Transaction(Store& store, uint32_t committer)
    : store_(store), committer_(committer), batch_(std::make_unique<rocksdb::WriteBatch>()) {}

Transaction::~Transaction() { Discard(); }

// ---- the life of a command

void Transaction::BeginCommand(Lane lane, int64_t now_ms, bool reads) {
  lane_ = lane;
  reads_ = reads;
  now_ms_ = now_ms;
  steps_left_ = kFastLaneSteps;
  keyspaces_epoch_ = store_.keyspaces_epoch_.load(std::memory_order_acquire);
  command_hits_ = command_misses_ = command_expired_ = 0;
  saw_uncommitted_ = met_lock_ = false;
  missing_row_.clear();
  observed_.clear();
  stale_keys_.clear();
  command_counts_.clear();
  rank_changes_.clear();
  use_marks_before_ = use_marks_.size();
  announcements_before_ = announcements_.size();
  interest_ = store_.interest();
  silenced_ = 0;
  if (muted_effects_) interest_ &= ~kInterestInEffects;
  effects_before_ = effects_.size();
  command_effects_ = 0;
  effects_apart_ = false;
  command_changes_ = 0;
  changed_keyspaces_ = false;
  overlay_.ForgetMarks();
}

bool Transaction::Holds(uint32_t stripe) const { return store_.stripes_.IsHeldBy(stripe, this); }

bool Transaction::TryLockAll(std::span<const uint32_t> stripes) {
  const size_t held_before = locked_.size();
  for (const uint32_t stripe : stripes) {
    if (Holds(stripe)) continue;
    if (store_.stripes_.TryLock(stripe, this)) {
      locked_.push_back(stripe);
      continue;
    }
    if (TryTakeOver(stripe)) continue;
    met_lock_ = true;
    while (locked_.size() > held_before) {
      store_.stripes_.Unlock(locked_.back(), this);
      locked_.pop_back();
    }
    return false;
  }
  return true;
}

// The stripe stays taken until the end of the tick: it cannot be given back, the other one may be done meanwhile.
bool Transaction::TryTakeOver(uint32_t stripe) {
  if (first_ == nullptr || !store_.stripes_.IsHeldBy(stripe, first_)) return false;
  if (!store_.stripes_.TryTakeOver(stripe, first_, this)) return false;
  taken_over_.push_back(stripe);
  return true;
}

void Transaction::Follow(const Transaction* first) {
  ASSERT(first == nullptr || (overlay_.empty() && locked_.empty()), "a tick follows from its beginning");
  first_ = first;
}

Status Transaction::Lock(std::span<const uint32_t> stripes) {
  if (lane_ == Lane::kFast || !locked_.empty()) {
    if (!TryLockAll(stripes)) return Status::WouldWait();
    interest_ = store_.interest();
    return Ok();
  }
  std::vector<uint32_t> sorted(stripes.begin(), stripes.end());
  if (!std::is_sorted(sorted.begin(), sorted.end())) std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (const uint32_t stripe : sorted) {
    store_.stripes_.Lock(stripe, this);
    locked_.push_back(stripe);
  }
  interest_ = store_.interest();
  return Ok();
}

Status Transaction::LockAll() {
  if (follows()) return Status::WouldWait();  // what it is to hold alone has not been written yet
  static const std::vector<uint32_t> all = [] {
    std::vector<uint32_t> stripes(kStripeCount);
    for (uint32_t i = 0; i < kStripeCount; ++i) stripes[i] = i;
    return stripes;
  }();
  return Lock(all);
}

bool Transaction::HasChanged(std::span<const uint32_t> stripes) const {
  const std::vector<Overlay::Entry>& entries = overlay_.entries();
  return !keyspaces_.empty() || std::any_of(entries.begin(), entries.end(), [&](const Overlay::Entry& entry) {
    return entry.state != Overlay::State::kNothing &&
           std::find(stripes.begin(), stripes.end(), entry.stripe) != stripes.end();
  });
}

Status Transaction::AwaitListener(std::span<const uint32_t> stripes) {
  if (stripes.empty() || !(HasChanged(stripes) || (first_ != nullptr && first_->HasChanged(stripes)))) return Ok();
  met_lock_ = true;
  return Status::WouldWait();
}

Status Transaction::Spend(uint64_t steps) {
  if (lane_ == Lane::kSlow) return Ok();
  if (steps > steps_left_) return Status::WouldWait();
  steps_left_ -= steps;
  return Ok();
}

void Transaction::SpendReads(uint64_t reads) { steps_left_ -= std::min(steps_left_, reads * kStepsOfRead); }

Status Transaction::Observe(uint32_t stripe) {
  // Still the one's before this one, and not to be taken over because somebody waits for it: what is committed there is
  // older than what the command sees of that tick's other keys.
  if (first_ != nullptr && store_.stripes_.IsHeldBy(stripe, first_)) {
    met_lock_ = true;
    return Status::WouldWait();
  }
  uint64_t version = store_.stripes_.Version(stripe);
  while (Stripes::IsCommitting(version)) {
    met_lock_ = true;
    if (lane_ == Lane::kFast) return Status::WouldWait();
    std::this_thread::yield();
    version = store_.stripes_.Version(stripe);
  }
  observed_.push_back({stripe, version});
  return Ok();
}

bool Transaction::ReadsHold() const {
  for (const Observed& observed : observed_) {
    if (store_.stripes_.Version(observed.stripe) != observed.version) return false;
  }
  return store_.keyspaces_epoch_.load(std::memory_order_acquire) == keyspaces_epoch_;
}

Status Transaction::FinishCommand() {
  if (!ReadsHold()) return Status::WouldWait();
  for (const KeyCountDelta& count : command_counts_) AddDelta(counts_, count.keyspace, count.delta);
  if (reads_) {
    if (command_hits_ != 0) store_.counters_.keyspace_hits.Add(command_hits_);
    if (command_misses_ != 0) store_.counters_.keyspace_misses.Add(command_misses_);
  }
  if (command_expired_ != 0) store_.counters_.expired_keys.Add(command_expired_);
  changes_ += command_changes_;
  if (command_effects_ > 1 && !effects_apart_) GroupEffects();
  return Ok();
}

void Transaction::AbandonCommand() {
  UndoRankChanges(0);
  overlay_.RollbackTo(0);
  use_marks_.resize(std::min(use_marks_.size(), use_marks_before_));
  announcements_.resize(std::min(announcements_.size(), announcements_before_));
  effects_.resize(std::min(effects_.size(), effects_before_));
  command_effects_ = 0;
  command_changes_ = 0;
  command_counts_.clear();
  if (changed_keyspaces_) {
    keyspaces_ = keyspaces_before_;
    empty_below_ = empty_below_before_;
  }
  changed_keyspaces_ = false;
  if (pending_ != nullptr) SetPending(nullptr, nullptr);
}

Transaction::Savepoint Transaction::MakeSavepoint() const {
  return {overlay_.Mark(),  rank_changes_.size(), command_counts_, announcements_.size(),
          effects_.size(), command_effects_,     command_changes_};
}

void Transaction::RollbackTo(const Savepoint& savepoint) {
  UndoRankChanges(savepoint.rank_changes);
  overlay_.RollbackTo(savepoint.overlay);
  command_counts_ = savepoint.counts;
  announcements_.resize(savepoint.announcements);
  effects_.resize(savepoint.effects_bytes);
  command_effects_ = savepoint.effects;
  command_changes_ = savepoint.changes;
}

void Transaction::AddEffect(int db, std::span<const std::string_view> argv) {
  AppendLogCommand(effects_, db, argv);
  ++command_effects_;
}

void Transaction::AddStream(std::string_view bytes) { AppendLogStream(effects_, bytes); }

void Transaction::GroupEffects() {
  std::string begin;
  AppendLogMark(begin, LogEntryKind::kBegin);
  effects_.insert(effects_before_, begin);
  AppendLogMark(effects_, LogEntryKind::kEnd);
}

std::vector<Announcement> Transaction::TakeAnnouncements() {
  announcements_before_ = 0;
  return std::exchange(announcements_, {});
}

void Transaction::UndoRankChanges(size_t keep) {
  while (rank_changes_.size() > keep) {
    if (RankIndex* index = IndexOf(rank_changes_.back().row)) Apply(*index, rank_changes_.back(), true);
    rank_changes_.pop_back();
  }
}

// ---- rows

// Whether rows of the stripe are to be looked for in the transaction this one follows.
bool Transaction::SharesWithFirst(uint32_t stripe) {
  if (first_ == nullptr) return false;
  // One that was locked afresh may have been changed by others since the first one let go of it.
  if (!(Holds(stripe) ? store_.stripes_.TakenFrom(stripe) == first_ : TryTakeOver(stripe))) return false;
  saw_uncommitted_ = true;
  return true;
}

Result<RowRef> Transaction::Get(const RowKey& row, Access access) {
  TRY(Spend(1));  // a command of a hundred thousand members belongs on the slow lane
  const uint64_t hash = Overlay::HashOf(row.tagged());
  if (const Overlay::Entry* entry = overlay_.Find(row.tagged(), hash)) {
    saw_uncommitted_ = true;
    if (entry->state == Overlay::State::kPut) return RowRef(entry->value);
    if (entry->state == Overlay::State::kDeleted) return RowRef();
  }
  if (SharesWithFirst(row.stripe())) {
    if (const Overlay::Entry* entry = first_->overlay_.Find(row.tagged(), hash)) {
      hot_row_hash_ = entry->hot ? hash : hot_row_hash_;
      if (entry->state == Overlay::State::kPut) return RowRef(entry->value);
      if (entry->state == Overlay::State::kDeleted) return RowRef();
    }
  }
  return GetCommitted(row, access, hash);
}

void Transaction::SetIdle(const RowKey& row, int64_t seconds) {
  const int64_t now_s = now_ms_ / 1000;
  use_marks_.push_back({row, std::max<int64_t>(now_s - std::min(seconds, now_s), RowCache::kUnknownUse + 1), {}});
}

void Transaction::SetFrequency(const RowKey& row, uint8_t frequency) {
  use_marks_.push_back({row, now_ms_ / 1000, frequency});
}

std::optional<uint8_t> Transaction::Frequency(const RowKey& row) {
  if (!store_.cache_.counts_uses()) return std::nullopt;
  for (const UseMark& mark : use_marks_) {
    if (mark.frequency && mark.row.tagged() == row.tagged()) return mark.frequency;
  }
  return store_.cache_.Frequency(row.tagged(), now_ms_ / 1000);
}

int64_t Transaction::IdleSeconds(const RowKey& row) {
  for (const UseMark& mark : use_marks_) {
    if (mark.row.tagged() == row.tagged()) return now_ms_ / 1000 - mark.used_s;
  }
  if (overlay_.Find(row.tagged(), Overlay::HashOf(row.tagged())) != nullptr) return 0;
  return store_.cache_.IdleSeconds(row.tagged(), now_ms_ / 1000);
}

Result<RowRef> Transaction::GetCommitted(const RowKey& row, Access access, uint64_t hash) {
  if (snapshot_ != nullptr) return snapshot_->Get(row);
  if (!Holds(row.stripe())) TRY(Observe(row.stripe()));
  const bool cached = IsCached(row.space()) && !store_.imports();
  if (store_.imports() && IsCached(row.space()) && store_.names_.RulesOut(hash)) return RowRef();
  if (cached) {
    bool hot = false;
    RowRef found = store_.cache_.Lookup(row.tagged(), hash, access == Access::kUse, now_ms_ / 1000, hot);
    if (found) {
      if (hot) hot_row_hash_ = hash;
      return found;
    }
    if (store_.cache_.IsComplete()) return RowRef();
  }
  const ReadyOnly ready(lane_ == Lane::kFast);
  rocksdb::PinnableSlice value;
  const rocksdb::Status status =
      store_.db_->Get(rocksdb::ReadOptions(), store_.family(row.space()), ToSlice(row.row()), &value);
  if (ready.refused()) {
    store_.incomplete_probes_.fetch_add(1, std::memory_order_relaxed);
    missing_row_ = row.tagged();
    return Status::WouldWait();
  }
  SpendReads(ready.served());
  if (status.IsNotFound()) return RowRef();
  TRY(FromRocksDb(status));
  auto copy = std::make_unique<std::string>(value.data(), value.size());
  if (cached) Admit(row, hash, *copy, access);
  return RowRef(std::move(copy));
}

// A row read from RocksDB enters the cache only while nobody can commit a newer one.
void Transaction::Admit(const RowKey& row, uint64_t hash, std::string_view value, Access access) {
  const int64_t used_s = access == Access::kUse ? now_ms_ / 1000 : RowCache::kUnknownUse;
  if (Holds(row.stripe())) {
    store_.cache_.Insert(row.tagged(), hash, value, false, used_s);
    return;
  }
  const uint64_t version = observed_.back().version;
  if (!store_.stripes_.TryLock(row.stripe(), this)) return;
  if (store_.stripes_.Version(row.stripe()) == version) {
    store_.cache_.Insert(row.tagged(), hash, value, false, used_s);
  }
  store_.stripes_.Unlock(row.stripe(), this);
}

void Transaction::Put(const RowKey& row, std::string_view value) {
  ASSERT(Holds(row.stripe()), "a writer holds the stripe");
  if (!use_marks_.empty()) {
    std::erase_if(use_marks_, [&row](const UseMark& mark) { return mark.row.tagged() == row.tagged(); });
  }
  const uint64_t hash = Overlay::HashOf(row.tagged());
  overlay_.Write(row, hash, Overlay::State::kPut, value, hash == hot_row_hash_);
}

void Transaction::Delete(const RowKey& row) {
  ASSERT(Holds(row.stripe()), "a writer holds the stripe");
  overlay_.Write(row, Overlay::HashOf(row.tagged()), Overlay::State::kDeleted, {}, false);
}

RankIndex* Transaction::IndexOf(const RowKey& row) {
  std::string_view id_bytes = row.row();
  CollectionId id = 0;
  ReadU64(id_bytes, id);
  return store_.rank_indexes_.Find(row.stripe(), row.space(), id);
}

void Transaction::Apply(RankIndex& index, const RankChange& change, bool undo) {
  const std::string_view suffix = change.row.row().substr(8);
  if (change.added != undo) {
    index.Add(suffix);
  } else {
    index.Remove(suffix);
  }
}

void Transaction::NoteRankChange(const RowKey& row, bool added) {
  RankIndex* index = IndexOf(row);
  if (index == nullptr) return;
  rank_changes_.push_back({row, added});
  const size_t bytes = index->bytes();
  Apply(*index, rank_changes_.back(), false);
  const auto grown = static_cast<int64_t>(index->bytes()) - static_cast<int64_t>(bytes);
  store_.rank_indexes_.Charge(grown, *index, this);
}

void Transaction::RowAdded(const RowKey& row) { NoteRankChange(row, true); }
void Transaction::RowRemoved(const RowKey& row) { NoteRankChange(row, false); }

void Transaction::DropRanks(CollectionId id, uint32_t stripe) { store_.rank_indexes_.Drop(stripe, id); }

void Transaction::NoteDeadCollection(CollectionId id) { dead_collections_.push_back(id); }

Cursor Transaction::Scan(const RowKey& lower, const RowKey& upper, Direction direction) {
  return Cursor(*this, lower, upper, direction);
}

// ---- what is not a row

CollectionId Transaction::NewCollectionId() { return store_.NewCollectionId(); }

KeyspaceId Transaction::keyspace(int db) const {
  if (snapshot_ != nullptr) return snapshot_->keyspace(db);
  return keyspaces_.empty() ? store_.databases_[db].keyspace.load(std::memory_order_acquire)
                            : keyspaces_[db];
}

int Transaction::DatabaseOf(KeyspaceId id) const {
  for (int db = 0; db < store_.databases(); ++db) {
    if (keyspace(db) == id) return db;
  }
  return -1;
}

bool Transaction::HasKeyspace(KeyspaceId keyspace) const {
  return keyspaces_.empty() ? store_.IsLiveKeyspace(keyspace)
                            : std::find(keyspaces_.begin(), keyspaces_.end(), keyspace) != keyspaces_.end();
}

void Transaction::AddDelta(std::vector<KeyCountDelta>& deltas, KeyspaceId keyspace, int64_t delta) {
  for (KeyCountDelta& count : deltas) {
    if (count.keyspace == keyspace) {
      count.delta += delta;
      return;
    }
  }
  deltas.push_back({keyspace, delta});
}

int64_t Transaction::DeltaOf(const std::vector<KeyCountDelta>& deltas, KeyspaceId keyspace) {
  for (const KeyCountDelta& count : deltas) {
    if (count.keyspace == keyspace) return count.delta;
  }
  return 0;
}

int64_t Transaction::KeyCount(KeyspaceId keyspace) const {
  const Database* database = store_.FindDatabase(keyspace);
  const int64_t committed = database != nullptr ? database->keys.load(std::memory_order_relaxed) : 0;
  return committed + DeltaOf(counts_, keyspace) + DeltaOf(command_counts_, keyspace);
}

void Transaction::AddToKeyCount(KeyspaceId keyspace, int64_t delta) {
  AddDelta(command_counts_, keyspace, delta);
}

void Transaction::BeginKeyspaceChange() {
  if (!changed_keyspaces_) {
    keyspaces_before_ = keyspaces_;
    empty_below_before_ = empty_below_;
  }
  changed_keyspaces_ = true;
  if (!keyspaces_.empty()) return;
  for (const Database& database : store_.databases_) keyspaces_.push_back(database.keyspace);
}

void Transaction::ReplaceKeyspace(int db) {
  BeginKeyspaceChange();
  keyspaces_[db] = store_.NewKeyspaceId();
  // With every stripe held and no key anywhere, whatever collections there have been are dead.
  bool all_empty = store_.hidden_keyspaces_.empty() && !store_.is_staging();
  for (const KeyspaceId keyspace : keyspaces_) all_empty = all_empty && KeyCount(keyspace) == 0;
  if (all_empty) empty_below_ = store_.next_collection_.load();
}

void Transaction::SwapKeyspaces(int db1, int db2) {
  BeginKeyspaceChange();
  std::swap(keyspaces_[db1], keyspaces_[db2]);
}

void Transaction::AdoptStaged() {
  BeginKeyspaceChange();
  for (size_t db = 0; db < keyspaces_.size(); ++db) keyspaces_[db] = store_.staged_[db].keyspace;
}

// ---- the tick

bool Transaction::dirty() const {
  return !overlay_.empty() || !keyspaces_.empty() || !effects_.empty() || !notes_.empty() || changes_ != 0;
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

void Transaction::BuildBatch() {
  batch_->Clear();
  SortEntries();
  for (const EntryOrder& place : order_) {
    const Overlay::Entry& entry = overlay_.entries()[place.entry];
    if (entry.state == Overlay::State::kPut) {
      batch_->Put(store_.family(entry.space()), ToSlice(entry.row()), ToSlice(entry.value));
    } else {
      batch_->Delete(store_.family(entry.space()), ToSlice(entry.row()));
    }
  }
  for (const KeyCountDelta& count : counts_) {
    if (count.delta == 0) continue;
    const RowKey row = MakeCountRow(committer_, count.keyspace);
    batch_->Put(store_.family(Space::kMeta), ToSlice(row.row()),
                EncodeCount(DeltaOf(committed_counts_, count.keyspace) + count.delta));
  }
  if (!keyspaces_.empty()) PutKeyspaces();
  for (const auto& [name, value] : notes_) batch_->Put(store_.family(Space::kMeta), name, value);
  if (effects_.empty()) return;
  // Those who read the log go by sequence numbers, and a batch without rows takes none. The log data comes last: where
  // RocksDB writes several batches as one record, the rows before it tell whose it is (storage/log_reader.cc).
  if (batch_->Count() == 0) batch_->Put(store_.family(Space::kMeta), ToSlice(MakeMetaRow(kLogRow).row()), {});
  batch_->PutLogData(ToSlice(effects_));
}

void Transaction::PutKeyspaces() {
  for (const KeyspaceId keyspace : keyspaces_) {
    if (!store_.IsLiveKeyspace(keyspace)) store_.AddLiveKeyspace(keyspace);
  }
  const RowKey row = MakeMetaRow(kDatabasesRow);
  batch_->Put(store_.family(Space::kMeta), ToSlice(row.row()), store_.EncodeDatabaseRow(keyspaces_));
}

void Transaction::AdvanceStripes() {
  for (const uint32_t stripe : locked_) store_.stripes_.Advance(stripe);
  for (const uint32_t stripe : taken_over_) store_.stripes_.Advance(stripe);
}

void Transaction::ApplyToCache() {
  for (const Overlay::Entry& entry : overlay_.entries()) {
    if (!IsCached(entry.space())) continue;
    if (store_.imports()) {
      store_.names_.Add(entry.hash);
    } else if (entry.state == Overlay::State::kPut) {
      store_.cache_.Insert(entry.tagged, entry.hash, entry.value, entry.hot, now_ms_ / 1000);
    } else if (entry.state == Overlay::State::kDeleted) {
      store_.cache_.Erase(entry.tagged, entry.hash);
    }
  }
  for (const UseMark& mark : use_marks_) {
    store_.cache_.SetUsed(mark.row.tagged(), mark.used_s);
    if (mark.frequency) store_.cache_.SetFrequency(mark.row.tagged(), *mark.frequency);
  }
}

void Transaction::ApplyCounts() {
  if (!keyspaces_.empty()) {
    store_.AdoptKeyspaces(keyspaces_);
    store_.lazy_free_.AddFlush(empty_below_);
  }
  for (const KeyCountDelta& count : counts_) {
    AddDelta(committed_counts_, count.keyspace, count.delta);
    if (Database* database = store_.FindDatabase(count.keyspace)) {
      database->keys.fetch_add(count.delta, std::memory_order_relaxed);
    }
  }
  if (changes_ != 0) store_.counters_.changes.Add(changes_);
}

Status Transaction::Commit(CommitMode mode) {
  Status status = Write(mode);
  if (!status.Is(Code::kWouldWait)) EndTick(status.ok());
  return status;
}

Status Transaction::Write(CommitMode mode) {
  if (!dirty()) return Ok();
  BuildBatch();
  AdvanceStripes();
  rocksdb::WriteOptions options;
  options.no_slowdown = mode == CommitMode::kNoWait;
  options.sync = mode == CommitMode::kSync;
  options.disableWAL = mode == CommitMode::kNoLog;
  const rocksdb::Status written =
      batch_->Count() == 0 ? rocksdb::Status::OK() : store_.Write(options, *batch_, effects_);
  if (!written.ok()) {
    AdvanceStripes();
    Status status = FromRocksDb(written);
    if (!status.Is(Code::kWouldWait)) store_.NoteWriteError(written.ToString());
    return status;
  }
  if (empty_below_ != 0) store_.cache_.NoteEmptyStore();
  ApplyToCache();
  ApplyCounts();
  if (adopt_) adopt_();
  store_.NoteExpiry(earliest_expiry_ms_);
  for (const CollectionId id : dead_collections_) store_.lazy_free_.AddCollection(id);
  AdvanceStripes();
  NotifyListener();
  ReleaseStripes();
  return Ok();
}

// Tells who waits for keys of the stripes that changed. An element names its key through the owner row.
void Transaction::NotifyListener() {
  CommitListener* listener = store_.listener_;
  if (listener == nullptr) return;
  if (!keyspaces_.empty()) {
    listener->OnKeyspacesChanged(keyspaces_, [this](std::string_view row) { return store_.IsLive(row); });
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
  // What the indexes were told of is not going to happen.
  if (!written && dirty()) {
    for (const uint32_t stripe : locked_) store_.rank_indexes_.DropAll(stripe);
    for (const uint32_t stripe : taken_over_) store_.rank_indexes_.DropAll(stripe);
  }
  ReleaseStripes();
  Reset();
}

void Transaction::ReleaseStripes() {
  for (const uint32_t stripe : locked_) store_.stripes_.Unlock(stripe, this);
  for (const uint32_t stripe : taken_over_) store_.stripes_.Unlock(stripe, this);
  locked_.clear();
  taken_over_.clear();
}

void Transaction::Reset() {
  overlay_.Clear();
  counts_.clear();
  keyspaces_.clear();
  dead_collections_.clear();
  use_marks_.clear();
  effects_.clear();
  if (effects_.capacity() > kKeptBatchBytes) std::string().swap(effects_);
  changes_ = 0;
  notes_.clear();
  empty_below_ = 0;
  hot_row_hash_ = 0;
  if (pending_ != nullptr) SetPending(nullptr, nullptr);
  earliest_expiry_ms_ = INT64_MAX;
  if (order_.capacity() > kKeptRows) std::vector<EntryOrder>().swap(order_);
  if (batch_->GetDataSize() > kKeptBatchBytes) batch_ = std::make_unique<rocksdb::WriteBatch>();
}

}  // namespace cairn
