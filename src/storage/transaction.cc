// SPDX-License-Identifier: BSD-3-Clause
#include "storage/transaction.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "storage/batch.h"
#include "storage/ready_reads.h"
#include "storage/slice.h"
#include "storage/store.h"
#include "storage/store_snapshot.h"

namespace cairn {
namespace {

// Rows a fast lane command may walk over; about a millisecond (docs/decisions/run-again.md).
constexpr uint64_t kFastLaneSteps = 2048;
// Between two looks at a stripe of which a commit is under way. It may wait for an fsync.
constexpr auto kCommitPause = std::chrono::microseconds(20);
// What is out of a table and in the page cache is copied, checked and unpacked: some five microseconds.
constexpr uint64_t kStepsOfRead = 32;
// A row that gets another place leaves one and comes to one.
static_assert(RankChanges::kMostChanges >= 2 * kFastLaneSteps);

}  // namespace

Transaction::Transaction(Store& store, uint32_t committer)
    : store_(store), committer_(committer), stripes_(store.stripes_, this), databases_(store),
      ranks_(store.rank_indexes_, overlay_, this), uses_(store.cache_, overlay_),
      batch_(std::make_unique<rocksdb::WriteBatch>()) {}

Transaction::Transaction(Store& store) : Transaction(store, store.NewCommitter()) {}

Transaction::~Transaction() { Discard(); }

// ---- the life of a command

void Transaction::BeginCommand(Lane lane, int64_t now_ms, bool reads) {
  command_ = {.lane = lane,
              .reads = reads,
              .now_ms = now_ms,
              .steps_left = kFastLaneSteps,
              .interest = store_.interest(),
              .uses_before = uses_.size()};
  missing_row_.clear();
  observed_.clear();
  databases_.BeginCommand();
  ranks_.BeginCommand();
  announcements_.BeginCommand();
  effects_.BeginCommand();
  overlay_.ForgetMarks();
}

void Transaction::OnLocked() {
  command_.interest = store_.interest();
  databases_.OnLocked();
}

void Transaction::Follow(const Transaction* first) {
  ASSERT(first == nullptr || (overlay_.empty() && !stripes_.has_locked()), "a tick follows from its beginning");
  first_ = first;
}

Status Transaction::Lock(std::span<const uint32_t> stripes) {
  if (snapshot_ != nullptr) return Status::Io("a reader of a snapshot asked for a lock");
  if (lane() == Lane::kFast || stripes_.has_locked()) {
    if (!stripes_.TryLock(stripes, first_)) {
      command_.met_lock = true;
      return Status::WouldWait();
    }
  } else {
    stripes_.Lock(stripes);
  }
  OnLocked();
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

Status Transaction::BeginAlone(int64_t now_ms) {
  BeginCommand(Lane::kSlow, now_ms, false);
  return LockAll();
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
  if (stripes.empty() || !(HasChanged(stripes) || (first_ != nullptr && first_->HasChanged(stripes)))) return Ok();
  command_.met_lock = true;
  return Status::WouldWait();
}

Status Transaction::Spend(uint64_t steps) {
  if (command_.stop != nullptr && *command_.stop) return Status::Reply("ERR stopped");
  if (lane() == Lane::kSlow) return Ok();
  if (steps > command_.steps_left) return Status::WouldWait();
  command_.steps_left -= steps;
  return Ok();
}

void Transaction::SpendReads(uint64_t reads) {
  command_.steps_left -= std::min(command_.steps_left, reads * kStepsOfRead);
}

Status Transaction::Observe(uint32_t stripe) {
  // Still the one's before this one, and not to be taken over because somebody waits for it: what is committed there is
  // older than what the command sees of that tick's other keys.
  if (first_ != nullptr && store_.stripes_.IsHeldBy(stripe, first_)) {
    command_.met_lock = true;
    return Status::WouldWait();
  }
  uint64_t version = store_.stripes_.Version(stripe);
  while (Stripes::IsCommitting(version)) {
    command_.met_lock = true;
    if (lane() == Lane::kFast) return Status::WouldWait();
    std::this_thread::sleep_for(kCommitPause);
    version = store_.stripes_.Version(stripe);
  }
  observed_.push_back({stripe, version});
  return Ok();
}

bool Transaction::ReadsHold() const {
  for (const Observed& observed : observed_) {
    if (store_.stripes_.Version(observed.stripe) != observed.version) return false;
  }
  return databases_.StillHold();
}

Status Transaction::FinishCommand() {
  if (!ReadsHold()) return Status::WouldWait();
  TRY(TakeRefusal());
  effects_.FinishCommand(command_.interest);
  TRY(TakeRefusal());
  databases_.FinishCommand();
  if (command_.reads) {
    if (command_.hits != 0) store_.counters_.keyspace_hits.Add(command_.hits);
    if (command_.misses != 0) store_.counters_.keyspace_misses.Add(command_.misses);
  }
  if (command_.expired != 0) store_.counters_.expired_keys.Add(command_.expired);
  changes_ += command_.changes;
  return Ok();
}

Status Transaction::TakeRefusal() {
  if (effects_.too_large()) return Status::Reply(kEffectsTooLarge);
  return command_.refusal.empty() ? Ok() : Status::Reply(std::exchange(command_.refusal, {}));
}

void Transaction::AbandonCommand() {
  command_.refusal = {};
  command_.changes = 0;
  ranks_.RollbackTo(0, 0);
  overlay_.RollbackTo(0);
  uses_.RollbackTo(command_.uses_before);
  announcements_.DropCommand();
  effects_.DropCommand();
  databases_.DropCommand();
  if (pending_ != nullptr) SetPending(nullptr, nullptr);
}

Transaction::Savepoint Transaction::MakeSavepoint() const {
  return {overlay_.Mark(), ranks_.size(),   databases_.command_counts(), announcements_.size(),
          effects_.mark(), command_.changes};
}

void Transaction::RollbackTo(const Savepoint& savepoint) {
  command_.refusal = {};
  command_.changes = savepoint.changes;
  ranks_.RollbackTo(savepoint.overlay, savepoint.rank_changes);
  overlay_.RollbackTo(savepoint.overlay);
  databases_.RollbackTo(savepoint.counts);
  announcements_.RollbackTo(savepoint.announcements);
  effects_.RollbackTo(savepoint.effects);
}

// ---- rows

// Whether rows of the stripe are to be looked for in the transaction this one follows.
bool Transaction::SharesWithFirst(uint32_t stripe) {
  if (first_ == nullptr) return false;
  // One that was locked afresh may have been changed by others since the first one let go of it.
  if (!(Holds(stripe) ? store_.stripes_.TakenFrom(stripe) == first_ : stripes_.TryTakeOver(stripe, first_))) {
    return false;
  }
  command_.saw_uncommitted = true;
  return true;
}

Result<RowRef> Transaction::Get(const RowKey& row, Access access) {
  TRY(Spend(1));  // a command of a hundred thousand members belongs on the slow lane
  const uint64_t hash = Overlay::HashOf(row.tagged());
  if (const Overlay::Entry* entry = overlay_.Find(row.tagged(), hash)) {
    command_.saw_uncommitted = true;
    if (entry->state == Overlay::State::kPut) return RowRef(entry->value);
    if (entry->state == Overlay::State::kDeleted) return RowRef();
  }
  if (SharesWithFirst(row.stripe())) {
    if (const Overlay::Entry* entry = first_->overlay_.Find(row.tagged(), hash)) {
      if (entry->state == Overlay::State::kPut) return RowRef(entry->value);
      if (entry->state == Overlay::State::kDeleted) return RowRef();
    }
  }
  return GetCommitted(row, access, hash);
}

uint64_t Transaction::Prefetch(const RowKey& row) const {
  const uint64_t hash = Overlay::HashOf(row.tagged());
  store_.stripes_.Prefetch(row.stripe());
  store_.cache_.Prefetch(hash);
  return hash;
}

void Transaction::PrefetchRow(uint64_t hash) { store_.cache_.PrefetchRow(hash); }

Result<RowRef> Transaction::GetCommitted(const RowKey& row, Access access, uint64_t hash) {
  if (snapshot_ != nullptr) return snapshot_->Get(row);
  if (!Holds(row.stripe())) TRY(Observe(row.stripe()));
  const bool cached = RowCache::Keeps(row.space()) && !store_.imports();
  if (store_.imports() && RowCache::Keeps(row.space()) && store_.names_.RulesOut(hash)) return RowRef();
  if (cached) {
    RowRef found = store_.cache_.Lookup(row.tagged(), hash, access == Access::kUse, now_s());
    if (found) return found;
    if (store_.cache_.IsComplete(hash)) return RowRef();
  }
  const ReadyOnly ready(lane() == Lane::kFast);
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

// A row read from RocksDB enters the cache only while nobody can commit a newer one. That counts from the command's
// first look at the stripe: since then the row's collection may have been given to a key of another one (RENAME).
void Transaction::Admit(const RowKey& row, uint64_t hash, std::string_view value, Access access) {
  const uint32_t stripe = row.stripe();
  const bool holds = Holds(stripe);
  if (!holds && !store_.stripes_.TryLock(stripe, this)) return;
  const auto first = std::find_if(observed_.begin(), observed_.end(),
                                  [stripe](const Observed& observed) { return observed.stripe == stripe; });
  if (first == observed_.end() || store_.stripes_.Version(stripe) == first->version) {
    const int64_t used_s = access == Access::kUse ? now_s() : RowCache::kUnknownUse;
    store_.cache_.Insert(row.tagged(), hash, value, used_s);
  }
  if (!holds) store_.stripes_.Unlock(stripe, this);
}

void Transaction::Put(const RowKey& row, std::string_view value) {
  ASSERT(Holds(row.stripe()), "a writer holds the stripe");
  if (row.row().size() > kMostRowBytes || value.size() > kMostRowBytes - row.row().size()) [[unlikely]] {
    command_.refusal = kRowTooLarge;
    return;
  }
  uses_.Forget(row);
  overlay_.Write(row, Overlay::HashOf(row.tagged()), Overlay::State::kPut, value);
}

void Transaction::Delete(const RowKey& row) {
  ASSERT(Holds(row.stripe()), "a writer holds the stripe");
  if (row.row().size() > kMostRowBytes) [[unlikely]] command_.refusal = kRowTooLarge;
  overlay_.Write(row, Overlay::HashOf(row.tagged()), Overlay::State::kDeleted, {});
}

void Transaction::NoteDeadCollection(CollectionId id) { dead_collections_.push_back(id); }

Cursor Transaction::Scan(const RowKey& lower, const RowKey& upper, Direction direction) {
  return Cursor(*this, lower, upper, direction);
}

// ---- what is not a row

CollectionId Transaction::NewCollectionId() {
  const CollectionId id = store_.NewCollectionId();
  ids_end_ = std::max(ids_end_, id + 1);
  return id;
}

void Transaction::ReadFrom(const StoreSnapshot* snapshot) {
  snapshot_ = snapshot;
  databases_.ReadFrom(snapshot);
}

}  // namespace cairn
