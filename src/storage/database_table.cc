// SPDX-License-Identifier: BSD-3-Clause
#include "storage/database_table.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/mutex.h"
#include "storage/format.h"

namespace cairn {
namespace {

constexpr std::string_view kNoKeyspacesLeft =
    "ERR all numbers that this data directory has for keyspaces are used up; move the data to a new one with "
    "cairn-export and cairn-import";

uint64_t KeysOnDisk(const std::vector<Database>& databases) {
  uint64_t keys = 0;
  for (const Database& database : databases) keys += database.keys_on_disk();
  return keys;
}

}  // namespace

uint64_t Database::keys_on_disk() const {
  return ModeOfKeyspace(keyspace) == StorageMode::kMemory ? 0 : static_cast<uint64_t>(std::max<int64_t>(keys, 0));
}

DatabaseTable::DatabaseTable(int databases, const std::vector<StorageMode>& modes)
    : databases_(databases), modes_(databases), configured_(modes.size()), staged_(databases) {
  for (size_t db = 0; db < std::min(modes.size(), modes_.size()); ++db) modes_[db] = modes[db];
}

Result<bool> DatabaseTable::Load(std::vector<KeyspaceId> keyspaces, KeyspaceId next) {
  const bool grew = keyspaces.size() < databases_.size();
  next_keyspace_ = next;
  while (keyspaces.size() < databases_.size()) {
    keyspaces.push_back(TRY(NewKeyspace(static_cast<int>(keyspaces.size()))));
  }
  const WriterLock lock(live_mutex_);
  live_ = keyspaces;  // including databases that this run does not offer
  std::sort(live_.begin(), live_.end());
  hidden_.assign(keyspaces.begin() + size(), keyspaces.end());
  for (size_t db = 0; db < databases_.size(); ++db) {
    databases_[db].keyspace = keyspaces[db];
    if (db >= configured_) modes_[db] = ModeOfKeyspace(keyspaces[db]);
  }
  return grew;
}

Result<bool> DatabaseTable::FollowModes() {
  bool changed = false;
  for (int db = 0; db < size(); ++db) {
    Database& database = databases_[db];
    if (ModeOfKeyspace(database.keyspace) == mode(db)) continue;
    if (database.keys != 0) {
      Log(LogSeverity::kWarning,
          "storage: database {} has {} keys in storage-mode {}; it takes the configured mode, {}, when it is emptied.",
          db, database.keys.load(), NameOf(ModeOfKeyspace(database.keyspace)), NameOf(mode(db)));
      continue;
    }
    const KeyspaceId fresh = TRY(NewKeyspace(db));
    const WriterLock lock(live_mutex_);
    std::erase(live_, database.keyspace);
    live_.insert(std::upper_bound(live_.begin(), live_.end(), fresh), fresh);
    database.keyspace = fresh;
    changed = true;
  }
  return changed;
}

bool DatabaseTable::all_on_ssd() const {
  const ReaderLock lock(live_mutex_);
  return live_.empty() || ModeOfKeyspace(live_.back()) == StorageMode::kSsd;
}

std::string DatabaseTable::EncodeRow(std::vector<KeyspaceId> keyspaces) const {
  keyspaces.insert(keyspaces.end(), hidden_.begin(), hidden_.end());
  return EncodeDatabases(keyspaces, next_keyspace_);
}

std::vector<KeyspaceId> DatabaseTable::keyspaces() const {
  std::vector<KeyspaceId> keyspaces;
  for (const Database& database : databases_) keyspaces.push_back(database.keyspace);
  return keyspaces;
}

Database* DatabaseTable::Find(KeyspaceId keyspace) {
  for (Database& database : databases_) {
    if (database.keyspace.load(std::memory_order_relaxed) == keyspace) return &database;
  }
  if (!is_staging()) return nullptr;
  for (Database& database : staged_) {
    if (database.keyspace.load(std::memory_order_relaxed) == keyspace) return &database;
  }
  return nullptr;
}

bool DatabaseTable::has_keys() const {
  return std::any_of(databases_.begin(), databases_.end(), [](const Database& database) { return database.keys != 0; });
}

uint64_t DatabaseTable::keys_on_disk() const { return KeysOnDisk(databases_); }

Result<KeyspaceId> DatabaseTable::NewKeyspace(int db) {
  KeyspaceId id = next_keyspace_;
  do {
    if (id >= kKeyspacesEnd) return Status::Reply(kNoKeyspacesLeft);
  } while (!next_keyspace_.compare_exchange_weak(id, id + 1));
  return KeyspaceIn(mode(db), id);
}

void DatabaseTable::AddLive(KeyspaceId keyspace) {
  const WriterLock lock(live_mutex_);
  live_.insert(std::upper_bound(live_.begin(), live_.end(), keyspace), keyspace);
}

bool DatabaseTable::IsLive(KeyspaceId keyspace) const {
  const ReaderLock lock(live_mutex_);
  return std::binary_search(live_.begin(), live_.end(), keyspace);
}

size_t DatabaseTable::live_count() const {
  const ReaderLock lock(live_mutex_);
  return live_.size();
}

KeyspaceId DatabaseTable::Oldest() const {
  const ReaderLock lock(live_mutex_);
  KeyspaceId oldest = kKeyspacesEnd;
  for (const KeyspaceId keyspace : live_) oldest = std::min(oldest, NumberOfKeyspace(keyspace));
  return oldest;
}

void DatabaseTable::Adopt(const std::vector<KeyspaceId>& keyspaces) {
  std::map<KeyspaceId, int64_t> counts;
  for (const Database& database : databases_) counts[database.keyspace] = database.keys;
  const bool adopts = is_staging() && keyspaces[0] == staged_[0].keyspace;
  if (is_staging()) {
    for (const Database& database : staged_) counts[database.keyspace] = database.keys;
  }
  for (size_t db = 0; db < databases_.size(); ++db) {
    databases_[db].keyspace = keyspaces[db];
    databases_[db].keys = counts.contains(keyspaces[db]) ? counts[keyspaces[db]] : 0;
  }
  const WriterLock lock(live_mutex_);
  live_ = keyspaces;
  live_.insert(live_.end(), hidden_.begin(), hidden_.end());
  if (adopts) {
    ForgetStaged();
  } else if (is_staging()) {
    for (const Database& database : staged_) live_.push_back(database.keyspace);
  }
  std::sort(live_.begin(), live_.end());
  epoch_.fetch_add(1);
}

void DatabaseTable::Stage(const std::vector<KeyspaceId>& keyspaces) {
  for (size_t db = 0; db < staged_.size(); ++db) {
    staged_[db].keyspace = keyspaces[db];
    staged_[db].keys = 0;
    AddLive(keyspaces[db]);
  }
  staging_.store(true, std::memory_order_release);
}

uint64_t DatabaseTable::EndStaging() {
  const uint64_t keys = KeysOnDisk(staged_);
  const WriterLock lock(live_mutex_);
  std::erase_if(live_, [this](KeyspaceId keyspace) {
    return std::any_of(staged_.begin(), staged_.end(),
                       [keyspace](const Database& database) { return database.keyspace == keyspace; });
  });
  ForgetStaged();
  return keys;
}

void DatabaseTable::ForgetStaged() {
  staging_.store(false, std::memory_order_release);
  for (Database& database : staged_) database.keyspace = 0;
}

}  // namespace cairn
