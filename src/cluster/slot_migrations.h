// SPDX-License-Identifier: BSD-3-Clause
//
// SlotMigrations: the atomic migrations of slots of this node, from it and to it (docs/decisions/slot-migration.md).
//
// Thread: any.
#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
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
  // Ends all exports.
  void Stop();

  SlotImports& imports() { return imports_; }
  std::vector<SlotMigration> All() const { return list_.All(); }

  // The slots that are being exported.
  SlotSet ExportedSlots() const;
  // CLUSTER MIGRATESLOTS, with checked arguments. An error if a slot is being exported by now.
  Status Begin(std::vector<SlotMigration> exports);
  // CLUSTER CANCELSLOTMIGRATIONS; false if no export runs.
  bool CancelAll();

 private:
  MigrationList list_;
  const SlotExport::Parts export_parts_;
  SlotImports imports_;
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<SlotExport>> exports_ ABSL_GUARDED_BY(mutex_);  // those that have ended are removed later
};

}  // namespace cairn
