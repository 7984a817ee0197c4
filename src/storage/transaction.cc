// SPDX-License-Identifier: BSD-3-Clause
#include "storage/transaction.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

#include "base/clock.h"
#include "storage/batch.h"
#include "storage/read_row.h"
#include "storage/ready_reads.h"
#include "storage/slice.h"
#include "storage/store.h"
#include "storage/store_snapshot.h"

namespace cairn {
namespace {

// Pause between two checks of a stripe that is being committed. The commit may wait for an fsync.
constexpr auto kCommitPause = std::chrono::microseconds(20);
constexpr auto kLockPause = std::chrono::milliseconds(1);  // between two tries to lock all stripes

// Moving a row to another rank takes two changes, a removal and an addition.
static_assert(RankChanges::kMostChanges >= 2 * CommandState::kFastLaneSteps);

}  // namespace

Transaction::Transaction(Store& store, uint32_t committer)
    : store_(store), stripes_(store.stripes(), this), reads_(store.stripes()), databases_(store),
      ranks_(store.rank_indexes(), overlay_, this), uses_(store.cache(), overlay_),
      batch_({store, committer, command_, stripes_, overlay_, replicated_commands_, databases_, uses_, on_commit_}) {}

Transaction::Transaction(Store& store) : Transaction(store, store.NewCommitter()) {}

Transaction::~Transaction() { Discard(); }

// ---- the life of a command

void Transaction::BeginCommand(Lane lane, int64_t now_ms, bool reads) {
  command_.Begin(lane, now_ms, reads);
  reads_.Clear();
  databases_.BeginCommand();
  ranks_.BeginCommand();
  uses_.BeginCommand();
  notifications_.BeginCommand();
  replicated_commands_.BeginCommand(store_.interests().wanted());
  overlay_.ForgetMarks();
}

void Transaction::OnLocked() {
  replicated_commands_.SetInterest(store_.interests().wanted());
  databases_.OnLocked();
}

void Transaction::SetPredecessor(const Transaction* first) {
  ASSERT(first == nullptr || (overlay_.empty() && !stripes_.has_locked()), "a tick follows from its beginning");
  predecessor_ = first;
  databases_.set_predecessor(first == nullptr ? nullptr : &first->databases_);
}

Status Transaction::Lock(std::span<const uint32_t> stripes) {
  if (snapshot_ != nullptr) return Status::Io("a reader of a snapshot asked for a lock");
  if (command_.lane() == Lane::kFast || stripes_.has_locked()) {
    if (!stripes_.TryLock(stripes, predecessor_)) return command_.MeetLock();
  } else {
    stripes_.Lock(stripes);
  }
  OnLocked();
  return Ok();
}

Status Transaction::LockAll() {
  if (predecessor_ != nullptr) return Status::WouldWait();  // the predecessor's rows are not written yet
  static const std::vector<uint32_t> all = [] {
    std::vector<uint32_t> stripes(kStripeCount);
    for (uint32_t i = 0; i < kStripeCount; ++i) stripes[i] = i;
    return stripes;
  }();
  return Lock(all);
}

Status BeginAlone(Transaction& txn, int64_t now_ms) {
  txn.BeginCommand(Lane::kSlow, now_ms, false);
  return txn.LockAll();
}

Status BeginAloneWithin(Transaction& txn, int64_t most_wait_ms) {
  const int64_t until_ms = MonotonicMs() + most_wait_ms;
  for (;;) {
    txn.BeginCommand(Lane::kFast, WallMs(), false);
    Status locked = txn.LockAll();
    if (!locked.Is(Code::kWouldWait)) return locked;
    txn.AbandonCommand();
    if (MonotonicMs() >= until_ms) return locked;
    std::this_thread::sleep_for(kLockPause);
  }
}

bool Transaction::HasChanged(std::span<const uint32_t> stripes) const {
  const std::vector<Overlay::Entry>& entries = overlay_.entries();
  if (!databases_.keyspaces().empty()) return true;
  return std::any_of(entries.begin(), entries.end(), [&](const Overlay::Entry& entry) {
    return entry.state != Overlay::State::kNothing &&
           std::find(stripes.begin(), stripes.end(), entry.stripe) != stripes.end();
  });
}

Status Transaction::AwaitListener(std::span<const uint32_t> stripes) {
  if (stripes.empty() || !(HasChanged(stripes) || (predecessor_ != nullptr && predecessor_->HasChanged(stripes))))
    return Ok();
  return command_.MeetLock();
}

Status Transaction::Observe(uint32_t stripe) {
  // The predecessor still holds the stripe, and a waiting thread prevents taking it over. The stripe's committed rows
  // are older than the predecessor's other rows, which this command sees; reading both would mix two states.
  if (predecessor_ != nullptr && store_.stripes().IsHeldBy(stripe, predecessor_)) return command_.MeetLock();
  uint64_t version = store_.stripes().Version(stripe);
  while (Stripes::IsCommitting(version)) {
    Status met = command_.MeetLock();
    if (command_.lane() == Lane::kFast) return met;
    std::this_thread::sleep_for(kCommitPause);
    version = store_.stripes().Version(stripe);
  }
  reads_.Add(stripe, version);
  return Ok();
}

bool Transaction::ReadsHold() const { return reads_.StillHolds() && databases_.StillHold(); }

Status Transaction::FinishCommand() {
  if (!ReadsHold()) return Status::WouldWait();
  TRY(command_.TakeRefusal());
  replicated_commands_.FinishCommand();
  TRY(command_.TakeRefusal());
  databases_.FinishCommand();
  command_.CountIn(store_.counters());
  on_commit_.CountChanges(command_.changes());
  return Ok();
}

void Transaction::AbandonCommand() {
  command_.RollbackTo(0);
  ranks_.RollbackTo(0, 0);
  overlay_.RollbackTo(0);
  uses_.DropCommand();
  notifications_.DropCommand();
  replicated_commands_.DropCommand();
  databases_.DropCommand();
  on_commit_.DropCommand();
}

Transaction::Savepoint Transaction::MakeSavepoint() const {
  return {
      overlay_.Mark(),   ranks_.size(), databases_.command_counts(), notifications_.size(), replicated_commands_.mark(),
      command_.changes()};
}

void Transaction::RollbackTo(const Savepoint& savepoint) {
  command_.RollbackTo(savepoint.changes);
  ranks_.RollbackTo(savepoint.overlay, savepoint.rank_changes);
  overlay_.RollbackTo(savepoint.overlay);
  databases_.RollbackTo(savepoint.counts);
  notifications_.RollbackTo(savepoint.notifications);
  replicated_commands_.RollbackTo(savepoint.replicated_commands);
}

// ---- rows

// Whether uncommitted rows of the stripe must be looked up in the predecessor.
bool Transaction::SharesWithPredecessor(uint32_t stripe) {
  if (predecessor_ == nullptr) return false;
  // If this transaction locked the stripe as a free one, others may have changed rows since its release.
  if (!(stripes_.Has(stripe) ? store_.stripes().TakenFrom(stripe) == predecessor_
                             : stripes_.TryTakeOver(stripe, predecessor_))) {
    return false;
  }
  command_.NoteUncommitted();
  return true;
}

Result<RowRef> Transaction::Get(const RowKey& row, Access access) {
  TRY(command_.Spend(1));  // a command with a hundred thousand members belongs on the slow lane
  const uint64_t hash = Overlay::HashOf(row.tagged());
  if (const Overlay::Entry* entry = overlay_.Find(row.tagged(), hash)) {
    command_.NoteUncommitted();
    if (entry->state == Overlay::State::kPut) return RowRef(entry->value);
    if (entry->state == Overlay::State::kDeleted) return RowRef();
  }
  if (SharesWithPredecessor(row.stripe())) {
    if (const Overlay::Entry* entry = predecessor_->overlay_.Find(row.tagged(), hash)) {
      if (entry->state == Overlay::State::kPut) return RowRef(entry->value);
      if (entry->state == Overlay::State::kDeleted) return RowRef();
    }
  }
  return GetCommitted(row, command_.only_peeks() ? Access::kPeek : access, hash);
}

Result<RowRef> Transaction::GetCommitted(const RowKey& row, Access access, uint64_t hash) {
  if (snapshot_ != nullptr) return snapshot_->Get(row);
  if (!stripes_.Has(row.stripe())) TRY(Observe(row.stripe()));
  const bool cached = RowCache::Keeps(row.space()) && !store_.engine().options().imports;
  if (store_.engine().options().imports && RowCache::Keeps(row.space()) && store_.names().RulesOut(hash))
    return RowRef();
  if (cached) {
    RowRef found = store_.cache().Lookup(row.tagged(), hash, access == Access::kUse, command_.now_s());
    if (found) return found;
    if (store_.cache().IsComplete(hash)) return RowRef();
  }
  const StorageMode mode = ModeOfRow(row.space(), row.row());
  const bool probes = command_.lane() == Lane::kFast && mode != StorageMode::kMemory;
  if (probes && !store_.probes().IsWorthAProbe(hash)) return command_.MissRow(row.tagged(), false);
  const ReadyOnly ready(probes);
  rocksdb::PinnableSlice value;
  const RowPlace place = store_.engines().PlaceOf(row.space(), mode);
  const rocksdb::Status status = place.db.Get(rocksdb::ReadOptions(), place.family, ToSlice(row.row()), &value);
  if (probes) store_.probes().Note(ready.refused());
  if (ready.refused()) {
    store_.counters().incomplete_probes.Add();
    return command_.MissRow(row.tagged(), true);
  }
  command_.SpendReads(ready.served());
  if (status.IsNotFound()) return RowRef();
  TRY(FromRocksDb(status));
  RowRef read = KeepRow(std::move(value));
  if (cached) Admit(row, hash, read.bytes(), access);
  return read;
}

// A row read from RocksDB may enter the cache only if no newer one can have been committed since the command's first
// look at the stripe: meanwhile the row's collection may have been given to a key of another stripe (RENAME).
void Transaction::Admit(const RowKey& row, uint64_t hash, std::string_view value, Access access) {
  const uint32_t stripe = row.stripe();
  const bool holds = stripes_.Has(stripe);
  if (!holds && !store_.stripes().TryLock(stripe, this)) return;
  if (reads_.StillHolds(stripe)) {
    const int64_t used_s = access == Access::kUse ? command_.now_s() : RowCache::kUnknownUse;
    try {
      store_.cache().Insert(row.tagged(), hash, value, used_s);
    } catch (const std::bad_alloc&) {
      // The row is read again when it is needed. The stripe must not stay locked.
    }
  }
  if (!holds) store_.stripes().Unlock(stripe, this);
}

bool Transaction::MayPutLarge(const RowKey& row, size_t value_bytes) {
  if (row.row().size() > kMostRowBytes || value_bytes > kMostRowBytes - row.row().size()) {
    command_.Refuse(kRowTooLarge);
    return false;
  }
  if (value_bytes < kLargeValueBytes) return true;
  if (command_.lane() == Lane::kFast) {
    command_.NeedSlowLane();
    return false;
  }
  if (!turn_ && store_.large_commits().Includes(value_bytes)) turn_.emplace(store_.large_commits());
  return true;
}

void Transaction::Put(const RowKey& row, std::string_view value, std::string_view rest) {
  ASSERT(stripes_.Has(row.stripe()), "a writer holds the stripe");
  const size_t bytes = value.size() + rest.size();
  if ((bytes >= kLargeValueBytes || row.row().size() > kMostRowBytes) && !MayPutLarge(row, bytes)) [[unlikely]]
    return;
  uses_.Forget(row);
  UseMemory(row, bytes);
  overlay_.Write(row, Overlay::HashOf(row.tagged()), Overlay::State::kPut, value, rest);
}

void Transaction::Delete(const RowKey& row) {
  ASSERT(stripes_.Has(row.stripe()), "a writer holds the stripe");
  if (row.row().size() > kMostRowBytes) [[unlikely]]
    command_.Refuse(kRowTooLarge);
  UseMemory(row, 0);
  overlay_.Write(row, Overlay::HashOf(row.tagged()), Overlay::State::kDeleted, {});
}

// Commands whose changes need much memory take turns, so that there is one of them at a time.
void Transaction::UseMemory(const RowKey& row, size_t value_bytes) {
  command_.memory().Use(Overlay::kEntryBytes + row.tagged().size() + value_bytes);
  if (command_.memory().is_much() && command_.lane() == Lane::kSlow && !turn_) [[unlikely]]
    turn_.emplace(store_.large_commits());
}

Cursor Transaction::Scan(const RowKey& lower, const RowKey& upper, Direction direction) {
  return Cursor(*this, lower, upper, direction);
}

// ---- other parts

CollectionId Transaction::NewCollectionId(KeyspaceId keyspace) {
  const CollectionId number = store_.collection_ids().New();
  on_commit_.NoteNewCollection(number);
  return CollectionIn(ModeOfKeyspace(keyspace), number);
}

void Transaction::ReadFrom(const StoreSnapshot* snapshot) {
  snapshot_ = snapshot;
  databases_.ReadFrom(snapshot);
}

// ---- the tick

Status Transaction::Commit(CommitMode mode) {
  Status status = batch_.Write(mode);
  if (!status.Is(Code::kWouldWait)) EndTick(status.ok());
  return status;
}

void Transaction::EndTick(bool written) {
  if (!written && batch_.dirty()) ranks_.DropAll(stripes_);
  stripes_.Release();
  overlay_.Clear();
  databases_.Clear();
  uses_.Clear();
  ranks_.Clear();
  replicated_commands_.Clear();
  on_commit_.Clear();
  batch_.Shrink();
  turn_.reset();
}

}  // namespace cairn
