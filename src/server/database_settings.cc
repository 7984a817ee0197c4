// SPDX-License-Identifier: BSD-3-Clause
#include "server/database_settings.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <utility>

#include "config/database_options.h"
#include "storage/transaction.h"

namespace cairn {
namespace {

// CONFIG SET inside a MULTI holds stripes itself, so it does not wait for them for ever.
constexpr int64_t kMostWaitMs = 1000;

Status LockAll(Transaction& txn) {
  Status locked = BeginAloneWithin(txn, kMostWaitMs);
  return locked.Is(Code::kWouldWait) ? Status::Reply("the databases are in use, try again") : std::move(locked);
}

Result<std::vector<DatabaseOptions>> OptionsIn(const Config& config) {
  return DatabaseOptionsOf(config.Words("database"), static_cast<int>(config.settings().databases));
}

// Gives each database of `changed` its configured mode and an empty keyspace of that mode.
Status ReplaceKeyspaces(Store& store, Transaction& txn, const std::map<int, StorageMode>& changed,
                        const std::vector<DatabaseOptions>& options) {
  for (const auto& [db, before] : changed) {
    const StorageMode mode = options[static_cast<size_t>(db)].mode;
    TRY(store.engines().Provide(mode));
    store.databases().SetMode(db, mode);
    TRY(txn.databases().Replace(db));
  }
  TRY(txn.FinishCommand());
  return txn.Commit(CommitMode::kWait);
}

// Gives the databases whose mode is to change an empty keyspace of the new one. After an error all have their old mode.
Status FollowModes(Store& store, const std::vector<DatabaseOptions>& options) {
  DatabaseTable& table = store.databases();
  std::map<int, StorageMode> changed;  // database -> its mode before
  for (int db = 0; db < table.size(); ++db) {
    if (table.mode(db) != options[static_cast<size_t>(db)].mode) changed.emplace(db, table.mode(db));
  }
  if (changed.empty()) return Ok();
  const auto txn = std::make_unique<Transaction>(store);
  TRY(LockAll(*txn));
  for (const auto& [db, before] : changed) {
    if (txn->databases().KeyCount(txn->databases().keyspace(db)) == 0) continue;
    return Status::Reply(fmt::format("database {} has keys; its storage-mode can change while it is empty", db));
  }
  Status replaced = ReplaceKeyspaces(store, *txn, changed, options);
  if (replaced.ok()) return replaced;
  for (const auto& [db, before] : changed) table.SetMode(db, before);
  return replaced;
}

Status FollowDurability(const Config& config, Store& store, const std::vector<DatabaseOptions>& options) {
  const AppendFsync usual = config.settings().fsync_policy();
  std::vector<bool> syncs = {usual == AppendFsync::kAlways};
  bool each_second = usual == AppendFsync::kEverySec;
  for (const DatabaseOptions& one : options) {
    const AppendFsync durability = one.durability.value_or(usual);
    syncs.push_back(durability == AppendFsync::kAlways);
    each_second |= durability == AppendFsync::kEverySec;
  }
  store.log().SetSyncsEachSecond(each_second);
  return store.log().SetSyncsCommits(syncs);
}

}  // namespace

Result<std::vector<StorageMode>> ConfiguredModes(const Config& config) {
  std::vector<StorageMode> modes;
  for (const DatabaseOptions& options : TRY(OptionsIn(config))) modes.push_back(options.mode);
  return modes;
}

Status FollowDatabaseSettings(Config& config, Store& store) {
  for (const std::string_view name : {"database", "appendfsync"}) {
    config.Watch(name, [&config, &store]() -> Status {
      const std::vector<DatabaseOptions> options = TRY(OptionsIn(config));
      TRY(FollowModes(store, options));
      return FollowDurability(config, store, options);
    });
  }
  return FollowDurability(config, store, TRY(OptionsIn(config)));
}

}  // namespace cairn
