// SPDX-License-Identifier: BSD-3-Clause
//
// Staging: a second set of keyspaces, one for each database, that is filled while the databases go on serving and
// then takes their place in one commit (a replica's first transfer, DEBUG RELOAD). Until then nobody sees it, and
// after a crash it is garbage that compaction drops.

#include "storage/store.h"
#include "storage/transaction.h"

namespace cairn {

// The numbers are written down before a row is filed under one of them: after a crash they must not be given out again.
Status Store::BeginStaging(Transaction& txn) {
  ASSERT(!is_staging(), "one staging at a time");
  for (Database& database : staged_) {
    database.keyspace = NewKeyspaceId();
    database.keys = 0;
    AddLiveKeyspace(database.keyspace);
  }
  staging_.store(true, std::memory_order_release);
  txn.BeginCommand(Lane::kSlow, 0, false);
  TRY(txn.LockAll());
  txn.RecordKeyspaces();
  TRY(txn.FinishCommand());
  return txn.Commit(CommitMode::kSync);
}

void Store::ForgetStaged() {
  staging_.store(false, std::memory_order_release);
  for (Database& database : staged_) database.keyspace = 0;
}

void Store::EndStaging() {
  if (!is_staging()) return;
  {
    const std::unique_lock lock(keyspaces_mutex_);
    std::erase_if(live_keyspaces_, [this](KeyspaceId keyspace) {
      return std::any_of(staged_.begin(), staged_.end(),
                         [keyspace](const Database& database) { return database.keyspace == keyspace; });
    });
    ForgetStaged();
  }
  lazy_free_.AddFlush(0);
}

// A hold covers what was alive when it began. Files that are being dropped go first.
void Store::HoldDead() {
  dead_holds_.fetch_add(1);
  lazy_free_.Pass();
}

}  // namespace cairn
