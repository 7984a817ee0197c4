// SPDX-License-Identifier: BSD-3-Clause
//
// SlotMigrations: the atomic migrations of slots of this node, from it and to it (docs/decisions/slot-migration.md).
//
// One export runs at a time, on the thread "slot-export"; the others wait in the order of their beginning. An export
// takes a thread, a connection, a snapshot and a reader of the log, and one command may begin thousands of them.
//
// Thread: any.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/woken_thread.h"
#include "cluster/slot_export.h"
#include "cluster/slot_imports.h"
#include "cluster/slot_migration.h"

namespace cairn {

// Returns an error if one of the slots is in `exported`.
Status CheckNotExported(const SlotSet& exported, const std::vector<SlotRange>& ranges);

class SlotMigrations {
 public:
  SlotMigrations(Cluster& cluster, Store& store, Config& config, Tls& tls, Replication& replication,
                 const CommandTable& table)
      : export_parts_{cluster, store, config, tls, replication, table, list_},
        imports_(cluster, store, replication, list_) {}
  ~SlotMigrations() { Stop(); }
  // Ends all exports, and lets none begin.
  void Stop();

  SlotImports& imports() { return imports_; }
  std::vector<SlotMigration> All() const { return list_.All(); }

  // Held while a command begins a migration, or checks slots and then changes their owner or state (SETSLOT), so that
  // neither happens between the check and the change of the other.
  Mutex& begin_mutex() ABSL_LOCK_RETURNED(begin_mutex_) { return begin_mutex_; }
  // The slots that are being exported.
  SlotSet ExportedSlots() const;
  // Returns an error if one of the slots is being exported or imported.
  Status CheckNotMoving(const SlotSet& slots) const;
  // CLUSTER MIGRATESLOTS, with checked arguments. An error if a slot is being exported or imported by now.
  Status Begin(std::vector<SlotMigration> exports);
  // CLUSTER CANCELSLOTMIGRATIONS; false if no export runs or waits.
  bool CancelAll();

 private:
  // The work of the thread: all exports that wait.
  void RunExports();
  // Makes the first export that waits the running one; null if none waits.
  SlotExport* StartNext();

  MigrationList list_;
  const SlotExport::Parts export_parts_;
  SlotImports imports_;
  Mutex begin_mutex_;
  mutable Mutex mutex_ ABSL_ACQUIRED_AFTER(begin_mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<SlotMigration> waiting_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<SlotExport> running_ ABSL_GUARDED_BY(mutex_);  // only the thread replaces it
  WokenThread thread_{"slot-export", [this] { RunExports(); }};
};

}  // namespace cairn
