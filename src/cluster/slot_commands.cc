// SPDX-License-Identifier: BSD-3-Clause
//
// The subcommands of CLUSTER about slots: who owns them, their migration, and their keys.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/log.h"
#include "base/number.h"
#include "base/words.h"
#include "cluster/node_commands.h"
#include "cluster/slot_migrations.h"

namespace cairn {
namespace {

Result<SlotSet> ReadSlots(Args& args) {
  SlotSet slots;
  while (args.More()) {
    const int slot = TRY(ReadSlot(args.Bytes()));
    if (!slots.Add(slot)) return Status::Reply(fmt::format("ERR Slot {} specified multiple times", slot));
  }
  return slots;
}

Result<SlotSet> ReadRanges(Args& args, std::string_view command) {
  if (args.left() % 2 != 0) return Status::Reply(errors::WrongArity(command));
  SlotSet slots;
  while (args.More()) {
    const int first = TRY(ReadSlot(args.Bytes()));
    const int last = TRY(ReadSlot(args.Bytes()));
    if (first > last) {
      return Status::Reply(fmt::format("ERR start slot number {} is greater than end slot number {}", first, last));
    }
    for (int slot = first; slot <= last; ++slot) {
      if (!slots.Add(slot)) return Status::Reply(fmt::format("ERR Slot {} specified multiple times", slot));
    }
  }
  return slots;
}

template <typename Visit>
Status ForEach(const SlotSet& slots, const Visit& visit) {
  for (const SlotRange& range : slots.Ranges()) {
    for (int slot = range.first; slot <= range.last; ++slot) TRY(visit(slot));
  }
  return Ok();
}

SlotSet SetOf(int slot) {
  SlotSet slots;
  slots.Add(slot);
  return slots;
}

// Deletes the keys of slots that have left this node, or were not imported to the end, before clients see them again.
// REQUIRES: no import of these slots runs or begins.
Status DropLeftKeys(Cluster& cluster, const SlotSet& slots) {
  SlotSet hidden;
  TRY(ForEach(slots, [&](int slot) -> Status {
    if (cluster.unserved().Hides(slot)) hidden.Add(slot);
    return Ok();
  }));
  if (hidden.empty() || TRY(cluster.unserved().DropNow(hidden))) return Ok();
  return Status::Reply("ERR the server stops or has become a replica");
}

Status Assign(const ClusterParts& parts, CommandContext& ctx, const SlotSet& slots, Reply& reply) {
  TRY(CheckMayChange(ctx));
  Cluster& cluster = *parts.cluster;
  const MutexLock no_migration(cluster.migrations().begin_mutex());
  TRY(cluster.migrations().CheckNotMoving(slots));
  TRY(DropLeftKeys(cluster, slots));
  TRY(cluster.Change([&](Topology& topology) {
    return ForEach(slots, [&](int slot) -> Status {
      if (!topology.AssignSlot(slot, topology.myself().id())) {
        return Status::Reply(fmt::format("ERR Slot {} is already busy", slot));
      }
      topology.SetImporting(slot, std::nullopt);
      return Ok();
    });
  }));
  reply.Ok();
  return Ok();
}

Status Unassign(const ClusterParts& parts, CommandContext& ctx, const SlotSet& slots, Reply& reply) {
  TRY(CheckMayChange(ctx));
  Cluster& cluster = *parts.cluster;
  const MutexLock no_migration(cluster.migrations().begin_mutex());
  TRY(cluster.migrations().CheckNotMoving(slots));
  TRY(cluster.Change([&](Topology& topology) {
    return ForEach(slots, [&](int slot) -> Status {
      if (!topology.UnassignSlot(slot)) {
        return Status::Reply(fmt::format("ERR Slot {} is already unassigned", slot));
      }
      return Ok();
    });
  }));
  reply.Ok();
  return Ok();
}

// The target or source of a migration.
Result<NodeId> OtherMaster(const Topology& topology, std::string_view text) {
  const NodeId id = TRY(KnownNode(topology, text, "ERR I don't know about node"));
  if (topology.Find(id)->is_replica()) return Status::Reply("ERR Target node is not a master");
  return id;
}

Status BeginMigrating(Topology& topology, int slot, std::string_view target) {
  if (topology.SlotOwner(slot) != &topology.myself()) {
    return Status::Reply(fmt::format("ERR I'm not the owner of hash slot {}", slot));
  }
  topology.SetMigrating(slot, TRY(OtherMaster(topology, target)));
  return Ok();
}

Status BeginImporting(Topology& topology, int slot, std::string_view source) {
  if (topology.SlotOwner(slot) == &topology.myself()) {
    return Status::Reply(fmt::format("ERR I'm already the owner of hash slot {}", slot));
  }
  topology.SetImporting(slot, TRY(OtherMaster(topology, source)));
  return Ok();
}

Status CheckMaySetSlots(const Topology& topology) {
  if (topology.myself().is_replica()) return Status::Reply("ERR Please use SETSLOT only with masters.");
  return Ok();
}

// Gives the slot to a node. A node that ends its import takes an epoch above all others without a vote, so that its
// claim wins over that of the old owner (Redis Cluster specification, "Configuration epoch conflicts").
Status GiveSlot(const Cluster& cluster, Topology& topology, int slot, std::string_view text) {
  TRY(CheckMaySetSlots(topology));
  const NodeId id = TRY(KnownNode(topology, text));
  if (topology.Find(id)->is_replica()) return Status::Reply("ERR Target node is not a master");
  const Node& me = topology.myself();
  const bool is_mine = topology.SlotOwner(slot) == &me;
  if (is_mine && id != me.id() && !TRY(cluster.Keys(slot, 1)).empty()) {
    return Status::Reply(fmt::format(
        "ERR Can't assign hashslot {} to a different node while I still hold keys for this hash slot.", slot));
  }
  // Where a controller sets the topology, the epoch is its version.
  const bool ends_import = id == me.id() && topology.ImportingFrom(slot) != nullptr && !topology.is_controlled;
  topology.SetMigrating(slot, std::nullopt);
  topology.SetImporting(slot, std::nullopt);
  topology.UnassignSlot(slot);
  topology.AssignSlot(slot, id);
  if (ends_import) BumpEpoch(topology);
  if (is_mine && me.slots().empty() && !topology.is_controlled && cluster.AllowsReplicaMigration()) {
    Log(LogSeverity::kNotice, "Lost my last slot during slot migration. Reconfiguring myself as a replica of {}",
        id.text());
    topology.MakeReplica(me.id(), id);
    topology.Find(me.id())->shard_id = topology.Find(id)->shard_id;
  }
  return Ok();
}

// SETSLOT NODE. While the owner of the slot looks for keys, new ones must not appear, so the slot is migrating
// meanwhile: a command that would add a key is sent to the new owner.
Status GiveSlotSafely(Cluster& cluster, int slot, std::string_view text) {
  const bool is_for_me =
      cluster.With([&](const Topology& topology) { return NodeId::Parse(text) == topology.myself().id(); });
  if (is_for_me) TRY(DropLeftKeys(cluster, SetOf(slot)));
  const auto must_migrate = [&](const Topology& topology) {
    const auto id = NodeId::Parse(text);
    const Node* const target = id ? topology.Find(*id) : nullptr;
    return target != nullptr && target->is_master() && !target->is_myself() &&
           topology.SlotOwner(slot) == &topology.myself() && topology.MigratingTo(slot) != target;
  };
  const bool begins = cluster.With(must_migrate) && TRY(cluster.Keys(slot, 1)).empty();
  std::optional<NodeId> target_before;
  if (begins) {
    TRY(cluster.Change([&](Topology& topology) {
      if (!must_migrate(topology)) return Ok();
      if (const Node* const before = topology.MigratingTo(slot); before != nullptr) target_before = before->id();
      topology.SetMigrating(slot, *NodeId::Parse(text));
      return Ok();
    }));
  }
  Status given = cluster.Change([&](Topology& topology) { return GiveSlot(cluster, topology, slot, text); });
  if (given.ok() || !begins) return given;
  TRY(cluster.Change([&](Topology& topology) {
    if (topology.SlotOwner(slot) != &topology.myself()) return Ok();
    const bool is_known = target_before && topology.Find(*target_before) != nullptr;
    topology.SetMigrating(slot, is_known ? target_before : std::nullopt);
    return Ok();
  }));
  return given;
}

}  // namespace

Result<int> ReadSlot(std::string_view word) {
  const auto slot = ParseInt64(word);
  if (!slot || !IsSlot(*slot)) return Status::Reply("ERR Invalid or out of range slot");
  return static_cast<int>(*slot);
}

// CLUSTER ADDSLOTS slot [slot ...]
Status ClusterAddSlots(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  return Assign(parts, ctx, TRY(ReadSlots(args)), reply);
}

// CLUSTER ADDSLOTSRANGE start-slot end-slot [start-slot end-slot ...]
Status ClusterAddSlotsRange(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  return Assign(parts, ctx, TRY(ReadRanges(args, "cluster|addslotsrange")), reply);
}

// CLUSTER DELSLOTS slot [slot ...]
Status ClusterDelSlots(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  return Unassign(parts, ctx, TRY(ReadSlots(args)), reply);
}

// CLUSTER DELSLOTSRANGE start-slot end-slot [start-slot end-slot ...]
Status ClusterDelSlotsRange(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  return Unassign(parts, ctx, TRY(ReadRanges(args, "cluster|delslotsrange")), reply);
}

// CLUSTER FLUSHSLOTS
Status ClusterFlushSlots(const ClusterParts& parts, CommandContext& ctx, Args&, Reply& reply) {
  TRY(CheckMayChange(ctx));
  if (parts.cluster->HasKeys()) return Status::Reply("ERR DB must be empty to perform CLUSTER FLUSHSLOTS.");
  TRY(parts.cluster->Change([](Topology& topology) {
    topology.UnassignSlots(topology.myself().id());
    return Ok();
  }));
  reply.Ok();
  return Ok();
}

// CLUSTER COUNTKEYSINSLOT slot
Status ClusterCountKeysInSlot(const ClusterParts& parts, CommandContext&, Args& args, Reply& reply) {
  const int64_t slot = args.Integer();
  TRY(args.Check());
  if (!IsSlot(slot)) return Status::Reply("ERR Invalid slot");
  reply.Integer(TRY(parts.cluster->CountKeys(static_cast<int>(slot))));
  return Ok();
}

// CLUSTER GETKEYSINSLOT slot count
Status ClusterGetKeysInSlot(const ClusterParts& parts, CommandContext&, Args& args, Reply& reply) {
  const int64_t slot = args.Integer();
  const int64_t count = args.Integer();
  TRY(args.Check());
  if (!IsSlot(slot) || count < 0) return Status::Reply("ERR Invalid slot or number of keys");
  const size_t mark = reply.Later();
  size_t shown = 0;
  const auto show = [&](std::string_view key) {
    reply.Bulk(key);
    return ++shown < static_cast<size_t>(count) && !reply.is_cut();
  };
  if (count > 0) TRY(parts.cluster->ForEachKey(static_cast<int>(slot), show));
  reply.FinishArray(mark, shown);
  return Ok();
}

// CLUSTER SETSLOT slot <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>
Status ClusterSetSlot(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view slot_word = args.Bytes();
  const std::string_view action = args.Bytes();
  const std::string_view id = args.More() ? args.Bytes() : std::string_view();
  const bool is_stable = EqualsIgnoreCase(action, "stable");
  TRY(CheckMayChange(ctx));
  Cluster& cluster = *parts.cluster;
  const MutexLock no_migration(cluster.migrations().begin_mutex());
  TRY(cluster.With(CheckMaySetSlots));
  const int slot = TRY(ReadSlot(slot_word));
  if (!is_stable) TRY(cluster.migrations().CheckNotMoving(SetOf(slot)));
  if (EqualsIgnoreCase(action, "node") && !id.empty() && !args.More()) {
    TRY(GiveSlotSafely(cluster, slot, id));
    reply.Ok();
    return Ok();
  }
  if (EqualsIgnoreCase(action, "importing")) TRY(DropLeftKeys(cluster, SetOf(slot)));
  TRY(cluster.Change([&](Topology& topology) -> Status {
    TRY(CheckMaySetSlots(topology));
    if (is_stable && id.empty() && !args.More()) {
      topology.SetMigrating(slot, std::nullopt);
      topology.SetImporting(slot, std::nullopt);
      return Ok();
    }
    if (!id.empty() && !args.More()) {
      if (EqualsIgnoreCase(action, "migrating")) return BeginMigrating(topology, slot, id);
      if (EqualsIgnoreCase(action, "importing")) return BeginImporting(topology, slot, id);
    }
    return Status::Reply("ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP");
  }));
  reply.Ok();
  return Ok();
}

}  // namespace cairn
