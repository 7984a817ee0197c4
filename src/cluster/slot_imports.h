// SPDX-License-Identifier: BSD-3-Clause
//
// SlotImports: the imports of slots into this node, the target of atomic migrations (docs/decisions/slot-migration.md).
//
// The source is an ordinary client. Its session becomes one of an import by CLUSTER SYNCSLOTS ESTABLISH; then it sends
// the keys (CLUSTER IMPORTKEYS), and the writes to them as ordinary commands, which are replicated like others. So an
// import has no thread. The imported keys are hidden (cluster/unserved_slots.h) until TAKEOVER makes this node the
// owner of the slots, in one change of the topology. When the session ends before that, the keys are deleted.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "cluster/slot_migration.h"
#include "encoding/row_key.h"

namespace cairn {

class Cluster;
class Replication;
class Session;
class Store;

class SlotImports {
 public:
  SlotImports(Cluster& cluster, Store& store, Replication& replication, MigrationList& list)
      : cluster_(cluster), store_(store), replication_(replication), list_(list) {}

  // ---- commands of the source. May wait. REQUIRES: the caller holds no stripe.
  Status Establish(Session& session, SlotMigration migration);
  // The snapshot is complete.
  Status NoteSnapshotEnd(const Session& session);
  // The source holds writes back. TakeOver succeeds only within kLongestTakeOverMs from now.
  Status NotePaused(const Session& session);
  // Makes this node the owner of the slots. After an error it never will be by this import.
  Status TakeOver(Session& session);
  // Returns an error if one of the slots is being imported.
  Status CheckNotImported(const SlotSet& slots) const;
  // Whether this node has taken the slots over: 1 or 0; 2 while TakeOver runs. Ends an import for which TakeOver has
  // not begun: after a 0 it never will. Does not wait.
  int HasTaken(const std::string& name, const SlotSet& slots);

  // Closes the connections of sources that have failed, or have left the cluster: a host that was lost does not do it.
  void CloseLost();
  // The session's connection has closed.
  void OnClosed(Session& session);

 private:
  struct Import {
    SlotMigration migration;
    Session* session = nullptr;  // valid until `takes_over`
    KeyspaceId keyspace = 0;     // of database 0 at its beginning: FLUSHALL ends an import
    bool takes_over = false;
    int64_t paused_ms = 0;  // when PAUSED was received (MonotonicMs)
  };

  Status CheckMayImport(const SlotMigration& migration) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Result<Import*> Find(const Session& session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the lowest of these slots that is being imported, or -1.
  int FirstImported(const SlotSet& slots) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes this node the owner, unless the imported keys were flushed. FLUSHALL waits meanwhile: the source deletes its
  // keys after that.
  Status TakeSlots(const Import& import);
  Status ChangeOwner(const Import& import);
  // Ends the import of this name unless TakeOver runs. Returns false if it does.
  bool GiveUp(const std::string& name);
  // Deletes the imported keys.
  void CleanUp(const Import& import, std::string message);

  Cluster& cluster_;
  Store& store_;
  Replication& replication_;
  MigrationList& list_;
  mutable Mutex mutex_;
  std::map<uint64_t, Import> imports_ ABSL_GUARDED_BY(mutex_);  // by the id of the session
};

}  // namespace cairn
