// SPDX-License-Identifier: BSD-3-Clause
//
// The subcommands of CLUSTER about atomic migrations of slots: those of Valkey 9 for operators, and what two Cairns
// send each other (SYNCSLOTS, IMPORTKEYS).
#include <fmt/format.h>

#include <algorithm>

#include "base/number.h"
#include "cluster/node_commands.h"
#include "cluster/slot_migrations.h"
#include "storage/format.h"
#include "types/key_rows.h"

namespace cairn {
namespace {

constexpr std::string_view kControlled =
    "ERR A controller sets the nodes (CLUSTERX SETNODES). CLUSTER RESET ends that.";

// Reads pairs of slots up to a word that is no number.
Result<std::vector<SlotRange>> ReadRanges(Args& args) {
  std::vector<SlotRange> ranges;
  while (args.More() && ParseInt64(args.Peek())) {
    const int first = TRY(ReadSlot(args.Bytes()));
    if (!args.More()) return Status::Reply("ERR No end slot for final slot range");
    const int last = TRY(ReadSlot(args.Bytes()));
    if (first > last) {
      return Status::Reply(fmt::format("ERR Start slot number {} is greater than end slot number {}.", first, last));
    }
    for (const SlotRange& other : ranges) {
      if (last < other.first || first > other.last) continue;
      return Status::Reply(fmt::format("ERR Slot range {}-{} overlaps with previous range {}-{}.", first, last,
                                       other.first, other.last));
    }
    ranges.push_back({first, last});
  }
  if (ranges.empty()) return Status::Reply("ERR No slot ranges specified");
  return ranges;
}

Status CheckCanBegin(const Topology& topology) {
  if (topology.is_controlled) return Status::Reply(kControlled);
  if (!topology.myself().is_master()) return Status::Reply("ERR Slot migration can only be used on primary nodes.");
  for (const int slot : topology.OpenSlots()) {
    return Status::Reply(topology.ImportingFrom(slot) != nullptr ? "ERR Slots are being manually imported"
                                                                 : "ERR Slots are being manually migrated");
  }
  return Ok();
}

// All slots of the ranges are this node's, and not being exported.
Status CheckSlots(const Topology& topology, const SlotSet& exported, const std::vector<SlotRange>& ranges) {
  const Node* owner = nullptr;
  for (const SlotRange& range : ranges) {
    for (int slot = range.first; slot <= range.last; ++slot) {
      const Node* const one = topology.SlotOwner(slot);
      if (one == nullptr) return Status::Reply(fmt::format("ERR Slot {} has no node served.", slot));
      if (owner != nullptr && owner != one) return Status::Reply("ERR Requested slots span multiple shards");
      owner = one;
    }
  }
  if (owner != &topology.myself()) return Status::Reply("ERR Slots are not served by this node.");
  return CheckNotExported(exported, ranges);
}

Result<NodeId> ReadTarget(const Topology& topology, std::string_view text) {
  const auto id = NodeId::Parse(text);
  if (text.size() != NodeId::kSize) return Status::Reply(fmt::format("ERR Invalid node name: {}", text));
  if (!id || topology.Find(*id) == nullptr) return Status::Reply(fmt::format("ERR Unknown node name: {}", text));
  if (*id == topology.myself().id()) return Status::Reply("ERR Target node can not be this node.");
  return *id;
}

// One block of CLUSTER MIGRATESLOTS.
Result<SlotMigration> ReadMigration(const Topology& topology, const SlotSet& exported, SlotSet& seen, Args& args) {
  if (!args.Keyword("slotsrange")) return Status::Reply(errors::kSyntax);
  SlotMigration migration{.ranges = TRY(ReadRanges(args))};
  TRY(CheckSlots(topology, exported, migration.ranges));
  for (const SlotRange& range : migration.ranges) {
    for (int slot = range.first; slot <= range.last; ++slot) {
      if (!seen.Add(slot)) return Status::Reply("ERR Slot ranges in migrations overlap");
    }
  }
  if (!args.Keyword("node") || !args.More()) return Status::Reply(errors::kSyntax);
  migration.target = TRY(ReadTarget(topology, args.Bytes()));
  migration.source = topology.myself().id();
  migration.name = DrawNodeId().text();
  migration.state = migration_state::kConnecting;
  return migration;
}

// ---- CLUSTER SYNCSLOTS

// ESTABLISH SOURCE node-id NAME name FORMAT format SLOTSRANGE start-slot end-slot [start-slot end-slot ...]
Status Establish(Cluster& cluster, CommandContext& ctx, Args& args) {
  SlotMigration migration{.is_import = true};
  if (!args.Keyword("source")) return Status::Reply(errors::kSyntax);
  const auto source = NodeId::Parse(args.Bytes());
  if (!args.Keyword("name")) return Status::Reply(errors::kSyntax);
  const auto name = NodeId::Parse(args.Bytes());
  if (!source || !name || !args.Keyword("format")) return Status::Reply(errors::kSyntax);
  if (args.Bytes() != std::to_string(kFormatVersion)) {
    return Status::Reply("ERR the target has another format on disk than the source");
  }
  if (!args.Keyword("slotsrange")) return Status::Reply(errors::kSyntax);
  migration.ranges = TRY(ReadRanges(args));
  TRY(args.Done());
  TRY(cluster.With(CheckCanBegin));
  migration.source = *source;
  migration.name = name->text();
  return cluster.migrations().imports().Establish(ctx.session(), std::move(migration));
}

// HIDE name start-slot end-slot [start-slot end-slot ...]: of the stream of a primary.
Status Hide(Cluster& cluster, Args& args) {
  const std::string name(args.Bytes());
  SlotMigration migration{.ranges = TRY(ReadRanges(args))};
  TRY(args.Done());
  return cluster.unserved().Hide(name, migration.slots(), false);
}

// TAKEN NAME name SLOTSRANGE start-slot end-slot [start-slot end-slot ...]
Result<int> HasTaken(Cluster& cluster, Args& args) {
  if (!args.Keyword("name")) return Status::Reply(errors::kSyntax);
  const std::string name(args.Bytes());
  if (!args.Keyword("slotsrange")) return Status::Reply(errors::kSyntax);
  SlotMigration migration{.ranges = TRY(ReadRanges(args))};
  TRY(args.Done());
  return cluster.migrations().imports().HasTaken(name, migration.slots());
}

}  // namespace

// CLUSTER MIGRATESLOTS SLOTSRANGE start-slot end-slot [start-slot end-slot ...] NODE node-id [SLOTSRANGE ... NODE ...]
Status ClusterMigrateSlots(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  TRY(CheckMayChange(ctx));
  Cluster& cluster = *parts.cluster;
  SlotMigrations& migrations = cluster.migrations();
  const MutexLock beginning(migrations.begin_mutex());
  const SlotSet exported = migrations.ExportedSlots();
  std::vector<SlotMigration> exports;
  TRY(cluster.With([&](const Topology& topology) -> Status {
    TRY(CheckCanBegin(topology));
    SlotSet seen;
    while (args.More()) exports.push_back(TRY(ReadMigration(topology, exported, seen, args)));
    return Ok();
  }));
  TRY(migrations.Begin(std::move(exports)));
  reply.Ok();
  return Ok();
}

// CLUSTER GETSLOTMIGRATIONS
Status ClusterGetSlotMigrations(const ClusterParts& parts, CommandContext&, Args&, Reply& reply) {
  const std::vector<SlotMigration> all = parts.cluster->migrations().All();
  const auto text = [&reply](std::string_view name, std::string_view value) {
    reply.Bulk(name);
    reply.Bulk(value);
  };
  const auto number = [&reply](std::string_view name, int64_t value) {
    reply.Bulk(name);
    reply.Integer(value);
  };
  reply.Array(all.size());
  for (const SlotMigration& each : all) {
    reply.Map(11);
    text("name", each.name);
    text("operation", each.is_import ? "IMPORT" : "EXPORT");
    text("slot_ranges", each.RangesText());
    text("target_node", each.target.text());
    text("source_node", each.source.text());
    number("create_time", each.created_s);
    number("last_update_time", each.updated_s);
    number("last_ack_time", each.acked_s);
    text("state", each.state);
    text("message", each.message);
    number("cow_size", 0);
  }
  return Ok();
}

// CLUSTER CANCELSLOTMIGRATIONS
Status ClusterCancelSlotMigrations(const ClusterParts& parts, CommandContext&, Args&, Reply& reply) {
  if (!parts.cluster->migrations().CancelAll()) return Status::Reply("ERR No migrations ongoing");
  reply.Ok();
  return Ok();
}

// CLUSTER SYNCSLOTS <ESTABLISH | SNAPSHOT-EOF | PAUSED | TAKEOVER | TAKEN | HIDE | SHOW> [...]
//
// TAKEN is answered on the fast lane: TAKEOVER may wait in the queue of the slow lane.
Status ClusterSyncSlots(const ClusterParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  Cluster& cluster = *parts.cluster;
  if (args.Keyword("taken")) {
    reply.Integer(TRY(HasTaken(cluster, args)));
    return Ok();
  }
  if (ctx.txn().command().lane() == Lane::kFast) return Status::WouldWait();
  const bool is_stream = ctx.session().is_primary && ctx.session().id() == 0;
  if (is_stream && args.Keyword("hide")) return Hide(cluster, args);
  if (is_stream && args.Keyword("show")) return cluster.unserved().Show(std::string(args.Bytes()), false);
  TRY(CheckMayChange(ctx));
  if (args.Keyword("establish")) {
    TRY(Establish(cluster, ctx, args));
  } else if (args.Keyword("snapshot-eof")) {
    TRY(cluster.migrations().imports().NoteSnapshotEnd(ctx.session()));
  } else if (args.Keyword("paused")) {
    TRY(cluster.migrations().imports().NotePaused(ctx.session()));
  } else if (args.Keyword("takeover")) {
    TRY(cluster.migrations().imports().TakeOver(ctx.session()));
  } else {
    return Status::Reply(errors::kSyntax);
  }
  reply.Ok();
  return Ok();
}

// CLUSTER IMPORTKEYS key piece [key piece ...]
Status ClusterImportKeys(const ClusterParts&, CommandContext& ctx, Args& args, Reply& reply) {
  if (!ctx.session().is_primary) return Status::Reply("ERR CLUSTER IMPORTKEYS is for the migration of slots only");
  Keyspace keyspace = ctx.keys(0);
  while (args.More()) {
    const Key key = keyspace.Name(args.Bytes());
    TRY(StoreKeyRows(keyspace, key, args.Bytes()));
  }
  TRY(args.Done());
  ctx.CountChanges(1);
  reply.Ok();
  return Ok();
}

}  // namespace cairn
