// SPDX-License-Identifier: BSD-3-Clause
#include "storage/transaction.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "encoding/varint.h"
#include "storage/batch.h"
#include "storage/rank_index.h"
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
// So many changes of rank indexes a command can take back, of some 130 bytes each: more than the fast lane lets it
// make. Of one that makes more and is abandoned the indexes go.
constexpr size_t kMostRankChanges = 1 << 12;
static_assert(kMostRankChanges >= 2 * kFastLaneSteps);  // a row that gets another place leaves one and comes to one

}  // namespace

Transaction::Transaction(Store& store, uint32_t committer)
    : store_(store), committer_(committer), batch_(std::make_unique<rocksdb::WriteBatch>()) {}

Transaction::Transaction(Store& store) : Transaction(store, store.NewCommitter()) {}

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
  stop_ = nullptr;
  missing_row_.clear();
  observed_.clear();
  stale_keys_.clear();
  tells_stale_keys_ = false;
  command_counts_.clear();
  rank_changes_.clear();
  new_aids_.clear();
  use_marks_before_ = use_marks_.size();
  announcements_before_ = announcements_.size();
  is_silenced_ = asked_keyspaces_ = false;
  ReadInterest();
  effects_before_ = effects_.size();
  command_effects_ = 0;
  effects_apart_ = false;
  command_changes_ = 0;
  changed_keyspaces_ = false;
  refusal_ = {};
  overlay_.ForgetMarks();
}

void Transaction::ReadInterest() {
  interest_ = store_.interest();
  if (muted_effects_) interest_ &= ~kInterestInEffects;
}

// Who holds a stripe keeps the databases as they are: what became of them while it waited was before the command.
void Transaction::OnLocked() {
  ReadInterest();
  if (!asked_keyspaces_) keyspaces_epoch_ = store_.keyspaces_epoch_.load(std::memory_order_acquire);
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
  if (snapshot_ != nullptr) return Status::Io("a reader of a snapshot asked for a lock");
  if (lane_ == Lane::kFast || !locked_.empty()) {
    if (!TryLockAll(stripes)) return Status::WouldWait();
    OnLocked();
    return Ok();
  }
  std::vector<uint32_t> sorted(stripes.begin(), stripes.end());
  if (!std::is_sorted(sorted.begin(), sorted.end())) std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (const uint32_t stripe : sorted) {
    store_.stripes_.Lock(stripe, this);
    locked_.push_back(stripe);
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
  if (stop_ != nullptr && *stop_) return Status::Reply("ERR stopped");
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
  return !asked_keyspaces_ || store_.keyspaces_epoch_.load(std::memory_order_acquire) == keyspaces_epoch_;
}

Status Transaction::FinishCommand() {
  if (!ReadsHold()) return Status::WouldWait();
  TRY(TakeRefusal());
  FinishEffects();
  TRY(TakeRefusal());
  for (const KeyCountDelta& count : command_counts_) AddDelta(counts_, count.keyspace, count.delta);
  if (reads_) {
    if (command_hits_ != 0) store_.counters_.keyspace_hits.Add(command_hits_);
    if (command_misses_ != 0) store_.counters_.keyspace_misses.Add(command_misses_);
  }
  if (command_expired_ != 0) store_.counters_.expired_keys.Add(command_expired_);
  changes_ += command_changes_;
  return Ok();
}

Status Transaction::TakeRefusal() {
  return refusal_.empty() ? Ok() : Status::Reply(std::exchange(refusal_, {}));
}

void Transaction::AbandonCommand() {
  refusal_ = {};
  RollBackAids(0, 0);
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
  refusal_ = {};
  RollBackAids(savepoint.overlay, savepoint.rank_changes);
  overlay_.RollbackTo(savepoint.overlay);
  command_counts_ = savepoint.counts;
  announcements_.resize(savepoint.announcements);
  effects_.resize(savepoint.effects_bytes);
  command_effects_ = savepoint.effects;
  command_changes_ = savepoint.changes;
  for (auto stale = stale_keys_.rbegin(); stale != stale_keys_.rend() && stale->place > effects_.size(); ++stale) {
    stale->place = effects_.size();
  }
}

std::vector<Announcement> Transaction::TakeAnnouncements() {
  announcements_before_ = 0;
  return std::exchange(announcements_, {});
}

// An index that goes does so first: what is noted to be taken back may be of one that it has replaced.
void Transaction::RollBackAids(size_t overlay, size_t rank_changes) {
  std::erase_if(new_aids_, [&](const auto& aid) {
    if (aid.second.since <= overlay) return false;
    DropRanks(aid.first, aid.second.stripe);
    return true;
  });
  while (rank_changes_.size() > rank_changes) {
    const RankChange& last = rank_changes_.back();
    if (RankIndex* index = IndexOf(last.row)) Apply(*index, last.row, -last.change);
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
  const bool cached = RowCache::Keeps(row.space()) && !store_.imports();
  if (store_.imports() && RowCache::Keeps(row.space()) && store_.names_.RulesOut(hash)) return RowRef();
  if (cached) {
    RowRef found = store_.cache_.Lookup(row.tagged(), hash, access == Access::kUse, now_ms_ / 1000);
    if (found) return found;
    if (store_.cache_.IsComplete(hash)) return RowRef();
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

// A row read from RocksDB enters the cache only while nobody can commit a newer one. That counts from the command's
// first look at the stripe: since then the row's collection may have been given to a key of another one (RENAME).
void Transaction::Admit(const RowKey& row, uint64_t hash, std::string_view value, Access access) {
  const uint32_t stripe = row.stripe();
  const bool holds = Holds(stripe);
  if (!holds && !store_.stripes_.TryLock(stripe, this)) return;
  const auto first = std::find_if(observed_.begin(), observed_.end(),
                                  [stripe](const Observed& observed) { return observed.stripe == stripe; });
  if (first == observed_.end() || store_.stripes_.Version(stripe) == first->version) {
    const int64_t used_s = access == Access::kUse ? now_ms_ / 1000 : RowCache::kUnknownUse;
    store_.cache_.Insert(row.tagged(), hash, value, used_s);
  }
  if (!holds) store_.stripes_.Unlock(stripe, this);
}

void Transaction::Put(const RowKey& row, std::string_view value) {
  ASSERT(Holds(row.stripe()), "a writer holds the stripe");
  if (row.row().size() > kMostRowBytes || value.size() > kMostRowBytes - row.row().size()) [[unlikely]] {
    refusal_ = kRowTooLarge;
    return;
  }
  if (!use_marks_.empty()) {
    std::erase_if(use_marks_, [&row](const UseMark& mark) { return mark.row.tagged() == row.tagged(); });
  }
  overlay_.Write(row, Overlay::HashOf(row.tagged()), Overlay::State::kPut, value);
}

void Transaction::Delete(const RowKey& row) {
  ASSERT(Holds(row.stripe()), "a writer holds the stripe");
  if (row.row().size() > kMostRowBytes) [[unlikely]] refusal_ = kRowTooLarge;
  overlay_.Write(row, Overlay::HashOf(row.tagged()), Overlay::State::kDeleted, {});
}

CollectionId Transaction::CollectionOf(const RowKey& row) {
  std::string_view id_bytes = row.row();
  CollectionId id = 0;
  ReadU64(id_bytes, id);
  return id;
}

RankIndex* Transaction::IndexOf(const RowKey& row) {
  return store_.rank_indexes_.Find(row.stripe(), row.space(), CollectionOf(row));
}

void Transaction::Apply(RankIndex& index, const RowKey& row, int64_t change) {
  const std::string_view suffix = row.row().substr(8);
  if (change > 0) {
    index.Add(suffix, static_cast<uint64_t>(change));
  } else {
    index.Remove(suffix, static_cast<uint64_t>(-change));
  }
}

void Transaction::NoteRankChange(const RowKey& row, int64_t change) {
  RankIndex* index = IndexOf(row);
  if (index == nullptr) return;
  if (rank_changes_.size() < kMostRankChanges) {
    rank_changes_.push_back({row, change});
  } else {
    NoteNewAid(CollectionOf(row), row.stripe(), overlay_.Mark() + 1);  // the row may be yet to be written
  }
  const size_t bytes = index->bytes();
  Apply(*index, row, change);
  const auto grown = static_cast<int64_t>(index->bytes()) - static_cast<int64_t>(bytes);
  store_.rank_indexes_.Charge(grown, *index, this);
}

void Transaction::NoteAidMade(CollectionId id, uint32_t stripe) {
  if (const size_t mark = overlay_.Mark(); mark > 0) NoteNewAid(id, stripe, mark);
}

// Those of another stripe, which the collection's key has left, Keyspace::Move has dropped.
void Transaction::NoteNewAid(CollectionId id, uint32_t stripe, size_t since) {
  NewAid& aid = new_aids_[id];
  aid = {stripe, std::max(aid.since, since)};
}

void Transaction::DropRanks(CollectionId id, uint32_t stripe) { store_.rank_indexes_.Drop(stripe, id); }

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

KeyspaceId Transaction::keyspace(int db) const {
  if (snapshot_ != nullptr) return snapshot_->keyspace(db);
  asked_keyspaces_ = true;
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
  asked_keyspaces_ = true;
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

Status Transaction::ReplaceKeyspace(int db) {
  const KeyspaceId fresh = TRY(store_.NewKeyspaceId());
  BeginKeyspaceChange();
  keyspaces_[db] = fresh;
  // With every stripe held and no key anywhere, whatever collections there have been are dead.
  bool all_empty = store_.hidden_keyspaces_.empty() && !store_.is_staging();
  for (const KeyspaceId keyspace : keyspaces_) all_empty = all_empty && KeyCount(keyspace) == 0;
  if (all_empty) empty_below_ = store_.next_collection_.load();
  return Ok();
}

void Transaction::SwapKeyspaces(int db1, int db2) {
  BeginKeyspaceChange();
  std::swap(keyspaces_[db1], keyspaces_[db2]);
}

void Transaction::AdoptStaged() {
  BeginKeyspaceChange();
  for (size_t db = 0; db < keyspaces_.size(); ++db) keyspaces_[db] = store_.staged_[db].keyspace;
}

}  // namespace cairn
