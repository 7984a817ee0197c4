// SPDX-License-Identifier: BSD-3-Clause
#include "storage/database_changes.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "encoding/storage_mode.h"
#include "storage/database_table.h"
#include "storage/store.h"
#include "storage/store_snapshot.h"

namespace cairn {

DatabaseChanges::DatabaseChanges(Store& store) : store_(store), table_(store.databases()) {}

KeyspaceId DatabaseChanges::keyspace(int db) const {
  if (snapshot_ != nullptr) return snapshot_->keyspace(db);
  const KeyspaceId current = Current(db);
  used_any_ = true;
  used_synced_ |= store_.log().Syncs(db) && ModeOfKeyspace(current) != StorageMode::kMemory;
  return current;
}

KeyspaceId DatabaseChanges::Current(int db) const {
  asked_ = true;
  return keyspaces_.empty() ? table_[db].keyspace.load(std::memory_order_acquire) : keyspaces_[db];
}

int DatabaseChanges::DatabaseOf(KeyspaceId id) const {
  for (int db = 0; db < table_.size(); ++db) {
    if ((snapshot_ != nullptr ? snapshot_->keyspace(db) : Current(db)) == id) return db;
  }
  return -1;
}

bool DatabaseChanges::Has(KeyspaceId keyspace) const {
  asked_ = true;
  return keyspaces_.empty() ? table_.IsLive(keyspace)
                            : std::find(keyspaces_.begin(), keyspaces_.end(), keyspace) != keyspaces_.end();
}

void DatabaseChanges::Add(std::vector<KeyCountDelta>& deltas, KeyspaceId keyspace, int64_t delta) {
  for (KeyCountDelta& count : deltas) {
    if (count.keyspace == keyspace) {
      count.delta += delta;
      return;
    }
  }
  deltas.push_back({keyspace, delta});
}

int64_t DatabaseChanges::Of(const std::vector<KeyCountDelta>& deltas, KeyspaceId keyspace) {
  for (const KeyCountDelta& count : deltas) {
    if (count.keyspace == keyspace) return count.delta;
  }
  return 0;
}

int64_t DatabaseChanges::KeyCount(KeyspaceId keyspace) const {
  const Database* database = table_.Find(keyspace);
  const int64_t committed = database != nullptr ? database->keys.load(std::memory_order_relaxed) : 0;
  return committed + Of(counts_, keyspace) + Of(command_counts_, keyspace);
}

void DatabaseChanges::BeginChange() {
  if (!changed_) {
    keyspaces_before_ = keyspaces_;
    empty_below_before_ = empty_below_;
  }
  changed_ = true;
  if (keyspaces_.empty()) keyspaces_ = table_.keyspaces();
}

Status DatabaseChanges::Replace(int db) {
  const KeyspaceId fresh = TRY(table_.NewKeyspace(db));
  BeginChange();
  keyspaces_[db] = fresh;
  // All stripes are held and no key exists, so every existing collection is dead.
  const bool all_empty =
      !table_.hides_any() && !table_.is_staging() &&
      std::all_of(keyspaces_.begin(), keyspaces_.end(), [this](KeyspaceId id) { return KeyCount(id) == 0; });
  if (all_empty) empty_below_ = store_.staging().FreeNumbers().collection;
  return Ok();
}

void DatabaseChanges::Swap(int db1, int db2) {
  BeginChange();
  std::swap(keyspaces_[db1], keyspaces_[db2]);
}

void DatabaseChanges::AdoptStaged() {
  BeginChange();
  for (int db = 0; db < table_.size(); ++db) keyspaces_[db] = table_.staged(db);
}

void DatabaseChanges::BeginCommand() {
  epoch_ = table_.epoch();
  asked_ = false;
  changed_ = false;
  command_counts_.clear();
}

void DatabaseChanges::OnLocked() {
  if (!asked_) epoch_ = table_.epoch();
}

bool DatabaseChanges::StillHold() const { return !asked_ || table_.epoch() == epoch_; }

void DatabaseChanges::FinishCommand() {
  for (const KeyCountDelta& count : command_counts_) Add(counts_, count.keyspace, count.delta);
}

void DatabaseChanges::DropCommand() {
  command_counts_.clear();
  if (changed_) {
    keyspaces_ = keyspaces_before_;
    empty_below_ = empty_below_before_;
  }
  changed_ = false;
}

void DatabaseChanges::Apply() {
  if (!keyspaces_.empty()) {
    bool any_is_gone = false;  // not after SWAPDB
    uint64_t keys = 0;
    for (int db = 0; db < table_.size(); ++db) {
      if (std::ranges::find(keyspaces_, table_[db].keyspace.load()) != keyspaces_.end()) continue;
      any_is_gone = true;
      keys += table_[db].keys_on_disk();
    }
    table_.Adopt(keyspaces_);
    if (any_is_gone) store_.lazy_free().AddFlush(empty_below_, keys);
  }
  for (const KeyCountDelta& count : counts_) {
    Add(committed_, count.keyspace, count.delta);
    if (Database* database = table_.Find(count.keyspace)) {
      database->keys.fetch_add(count.delta, std::memory_order_relaxed);
    }
  }
}

void DatabaseChanges::Clear() {
  keyspaces_.clear();
  counts_.clear();
  used_any_ = false;
  used_synced_ = false;
  empty_below_ = 0;
}

}  // namespace cairn
