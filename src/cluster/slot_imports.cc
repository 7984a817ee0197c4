// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/slot_imports.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "cluster/cluster.h"
#include "cluster/slot_migrations.h"
#include "command/session.h"
#include "replication/replication.h"
#include "storage/store.h"
#include "storage/transaction.h"

namespace cairn {
namespace {

void Close(Session& session) {
  session.close = CloseRequest::kNow;
  session.Wake();
}

// Waits for a FLUSHALL that has begun. It holds all stripes, the last one only when it waits for no other.
Status AwaitFlush(Store& store) {
  const auto txn = std::make_unique<Transaction>(store);
  txn->BeginCommand(Lane::kSlow, WallMs(), false);
  const uint32_t stripes[] = {kStripeCount - 1};
  TRY(txn->Lock(stripes));
  txn->Discard();
  return Ok();
}

}  // namespace

int SlotImports::FirstImported(const SlotSet& slots) const {
  for (const auto& [session, import] : imports_) {
    const SlotSet taken = import.migration.slots();
    for (int slot = 0; slot < kSlotCount; ++slot) {
      if (taken.Has(slot) && slots.Has(slot)) return slot;
    }
  }
  return -1;
}

Status SlotImports::CheckNotImported(const SlotSet& slots) const {
  const MutexLock lock(mutex_);
  const int slot = FirstImported(slots);
  return slot == -1 ? Ok() : Status::Reply(fmt::format("ERR I am already importing slot {}.", slot));
}

Status SlotImports::CheckMayImport(const SlotMigration& migration) const {
  const SlotSet slots = migration.slots();
  if (FirstImported(slots) != -1) {
    return Status::Reply("ERR Slot is already being imported on the target by a different migration");
  }
  for (const std::shared_ptr<Replica>& replica : replication_.replicas().All()) {
    if (replica->files) continue;
    return Status::Reply("ERR a replica of the target is not a Cairn, or does not take files (repl-sync-files)");
  }
  return cluster_.With([&](const Topology& topology) -> Status {
    // A replica that is being promoted is a master for the others first.
    if (!topology.myself().is_master() || replication_.primary()) {
      return Status::Reply("ERR Slot migration can only be used on primary nodes.");
    }
    if (topology.Find(migration.source) == nullptr) {
      return Status::Reply("ERR Target node does not know the source node");
    }
    if (migration.source == topology.myself().id()) return Status::Reply("ERR Source node is target node itself");
    for (int slot = 0; slot < kSlotCount; ++slot) {
      if (!slots.Has(slot)) continue;
      if (topology.ImportingFrom(slot) != nullptr) return Status::Reply("ERR Slots are being manually imported");
      if (topology.SlotOwner(slot) == topology.Find(migration.source)) continue;
      return Status::Reply("ERR Target node does not agree about current slot ownership");
    }
    return Ok();
  });
}

Status SlotImports::Establish(Session& session, SlotMigration migration) {
  migration.target = cluster_.With([](const Topology& topology) { return topology.myself().id(); });
  const SlotSet slots = migration.slots();
  const std::string name = migration.name;
  {
    const MutexLock beginning(cluster_.migrations().begin_mutex());
    const MutexLock lock(mutex_);
    if (imports_.contains(session.id())) return Status::Reply("ERR this connection imports slots already");
    TRY(CheckMayImport(migration));
    migration.state = migration_state::kReceiving;
    imports_[session.id()] = {migration, &session, store_.databases()[0].keyspace.load(), false};
    list_.Add(std::move(migration));
    session.is_primary = true;
  }
  TRY(cluster_.unserved().Hide(name, slots, true));
  // The slots may have keys that were left by a move key by key.
  if (!TRY(cluster_.unserved().DropNow(slots))) return Status::Reply("ERR the server stops or has become a replica");
  return Ok();
}

Result<SlotImports::Import*> SlotImports::Find(const Session& session) {
  const auto found = imports_.find(session.id());
  if (found == imports_.end()) return Status::Reply("ERR this connection imports no slots");
  return &found->second;
}

Status SlotImports::NoteSnapshotEnd(const Session& session) {
  std::string name;
  {
    const MutexLock lock(mutex_);
    name = TRY(Find(session))->migration.name;
  }
  list_.SetState(name, migration_state::kWaitingForPaused);
  return store_.log().Sync();  // so that the sync in TakeOver, while writes are held back, has little to do
}

Status SlotImports::NotePaused(const Session& session) {
  const MutexLock lock(mutex_);
  TRY(Find(session))->paused_ms = MonotonicMs();
  return Ok();
}

Status SlotImports::ChangeOwner(const Import& import) {
  const SlotSet slots = import.migration.slots();
  const auto take = [&](Topology& topology) -> Status {
    if (import.paused_ms == 0) return Status::Reply("ERR The source has not paused writes");
    if (MonotonicMs() - import.paused_ms > kLongestTakeOverMs) return Status::Reply("ERR The takeover took too long");
    if (store_.databases()[0].keyspace.load() != import.keyspace) return Status::Reply("ERR Data was flushed");
    if (!topology.myself().is_master()) return Status::Reply("ERR the target is not a master any more");
    const Node* const source = topology.Find(import.migration.source);
    const NodeId me = topology.myself().id();
    for (int slot = 0; slot < kSlotCount; ++slot) {
      if (!slots.Has(slot)) continue;
      if (source == nullptr || topology.SlotOwner(slot) != source) {
        return Status::Reply("ERR Slots are no longer owned by source node");
      }
      topology.UnassignSlot(slot);
      topology.AssignSlot(slot, me);
    }
    BumpEpoch(topology);  // the claim wins over that of the source
    return Ok();
  };
  return cluster_.Change(take, [&] { cluster_.ReleaseWrites(slots); });
}

Status SlotImports::TakeSlots(const Import& import) {
  const SlotSet slots = import.migration.slots();
  cluster_.HoldWrites(slots);
  Status taken = AwaitFlush(store_);
  if (taken.ok()) taken = store_.log().Sync();
  if (taken.ok()) taken = ChangeOwner(import);
  cluster_.ReleaseWrites(slots);  // after an error
  return taken;
}

Status SlotImports::TakeOver(Session& session) {
  Import import;
  {
    const MutexLock lock(mutex_);
    Import& found = *TRY(Find(session));
    found.takes_over = true;
    import = found;
  }
  list_.SetState(import.migration.name, migration_state::kGranted);
  Status taken = TakeSlots(import);
  session.is_primary = false;
  {
    const MutexLock lock(mutex_);
    imports_.erase(session.id());
  }
  if (!taken.ok()) {
    CleanUp(import, std::string(taken.text()));
    return taken;
  }
  list_.SetState(import.migration.name, migration_state::kSuccess);
  // The slots are this node's already, so an error is not the reply. This node serves the slots in spite of their note.
  if (const Status shown = cluster_.unserved().Show(import.migration.name, true); !shown.ok()) {
    Log(LogSeverity::kWarning, "Slot migration {}: the end is not noted: {}", import.migration.name, shown.text());
  }
  return Ok();
}

bool SlotImports::GiveUp(const std::string& name) {
  Import import;
  {
    const MutexLock lock(mutex_);
    const auto found =
        std::ranges::find_if(imports_, [&](const auto& each) { return each.second.migration.name == name; });
    if (found == imports_.end()) return true;
    if (found->second.takes_over) return false;
    import = std::move(found->second);
    imports_.erase(found);
    Close(*import.session);
  }
  CleanUp(import, "The source has given up");
  return true;
}

int SlotImports::HasTaken(const std::string& name, const SlotSet& slots) {
  if (!GiveUp(name)) return 2;
  return cluster_.With([&](const Topology& topology) {
    for (int slot = 0; slot < kSlotCount; ++slot) {
      if (slots.Has(slot) && topology.SlotOwner(slot) != &topology.myself()) return 0;
    }
    return 1;
  });
}

void SlotImports::CleanUp(const Import& import, std::string message) {
  const std::string name = import.migration.name;
  list_.SetState(name, migration_state::kCleaningUp, std::move(message));
  cluster_.unserved().Drop(name, [this, name] { list_.SetState(name, migration_state::kFailed); });
}

void SlotImports::CloseLost() {
  const MutexLock lock(mutex_);
  for (const auto& [id, import] : imports_) {
    const bool is_lost = cluster_.With([&](const Topology& topology) {
      const Node* const source = topology.Find(import.migration.source);
      return source == nullptr || source->flags.Has(NodeFlags::kFailed);
    });
    if (!is_lost || import.takes_over) continue;
    Close(*import.session);
  }
}

// TAKEOVER runs on another thread until it ends, and then ends the import itself.
void SlotImports::OnClosed(Session& session) {
  if (!session.is_primary) return;
  Import import;
  {
    const MutexLock lock(mutex_);
    const auto found = imports_.find(session.id());
    if (found == imports_.end() || found->second.takes_over) return;
    import = std::move(found->second);
    imports_.erase(found);
  }
  CleanUp(import,
          "Connection lost to source. Check CLUSTER GETSLOTMIGRATIONS on the source node for more information.");
}

}  // namespace cairn
