// SPDX-License-Identifier: BSD-3-Clause
//
// CLUSTER SLOT-STATS: the number of keys of each slot of this shard, and what its commands cost (stats/slot_stats.h).
//
// The server keeps no number of keys for each slot. CLUSTER SLOT-STATS counts the keys of the slots that it shows. With
// ORDERBY key-count it counts all keys.
//
// Source: the documentation of Redis 8.2 and Valkey 8; the texts of errors are those of Valkey 9.1.
// Thread: the slow lane.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/number.h"
#include "base/words.h"
#include "cluster/node_commands.h"
#include "stats/slot_stats.h"

namespace cairn {
namespace {

struct SlotRow {
  int slot;
  uint64_t keys = 0;
  SlotStats::Sums sums = {};
};

struct Metric {
  std::string_view name;
  bool is_measured;  // only with cluster-slot-stats-enabled
  uint64_t (*of)(const SlotRow& row);
};
constexpr Metric kMetrics[] = {
    {"key-count", false, [](const SlotRow& row) { return row.keys; }},
    {"cpu-usec", true, [](const SlotRow& row) { return row.sums.usec; }},
    {"network-bytes-in", true, [](const SlotRow& row) { return row.sums.bytes_in; }},
    {"network-bytes-out", true, [](const SlotRow& row) { return row.sums.bytes_out; }},
};

struct Order {
  const Metric* metric;
  size_t limit = kSlotCount;
  bool is_ascending = false;
};

Result<Order> ReadOrder(Args& args, bool measures) {
  const std::string_view name = args.Bytes();
  Order order{.metric = std::ranges::find_if(
                  kMetrics, [&](const Metric& metric) { return EqualsIgnoreCase(metric.name, name); })};
  if (order.metric == std::end(kMetrics) || (order.metric->is_measured && !measures)) {
    return Status::Reply("ERR Unrecognized sort metric for ORDERBY.");
  }
  bool has_limit = false;
  bool has_direction = false;
  while (args.More()) {
    bool* seen = &has_direction;
    if (args.left() > 1 && args.Keyword("limit")) {
      seen = &has_limit;
      const auto limit = ParseInt64(args.Bytes());
      if (!limit || *limit < 1 || *limit > kSlotCount) {
        return Status::Reply("ERR Limit has to lie in between 1 and 16384 (maximum number of slots).");
      }
      order.limit = static_cast<size_t>(*limit);
    } else if (args.Keyword("asc")) {
      order.is_ascending = true;
    } else if (!args.Keyword("desc")) {
      return Status::Reply(errors::kSyntax);
    }
    if (std::exchange(*seen, true)) return Status::Reply("ERR Multiple filters of the same type are disallowed.");
  }
  return order;
}

// The slots from `first` to `last` that this shard owns.
std::vector<SlotRow> RowsOfShard(const ClusterParts& parts, int first, int last) {
  return parts.cluster->With([&](const Topology& topology) {
    std::vector<SlotRow> rows;
    for (int slot = first; slot <= last; ++slot) {
      if (IsOfMyShard(topology, slot)) rows.push_back({.slot = slot, .sums = parts.slot_stats.Of(slot)});
    }
    return rows;
  });
}

// Reads the numbers of keys. Slots in a row are read together.
Status CountKeysOf(const Cluster& cluster, std::vector<SlotRow>& rows) {
  for (size_t i = 0; i < rows.size();) {
    size_t end = i + 1;
    while (end < rows.size() && rows[end].slot == rows[end - 1].slot + 1) ++end;
    const std::vector<int64_t> counts = TRY(cluster.CountKeys(rows[i].slot, rows[end - 1].slot));
    for (const int64_t count : counts) rows[i++].keys = static_cast<uint64_t>(count);
  }
  return Ok();
}

// Keeps the first rows in this order; of equal ones those of the smaller slots.
void Sort(std::vector<SlotRow>& rows, const Order& order) {
  const auto value_of = order.metric->of;
  std::ranges::stable_sort(rows, [&](const SlotRow& left, const SlotRow& right) {
    return order.is_ascending ? value_of(left) < value_of(right) : value_of(left) > value_of(right);
  });
  rows.resize(std::min(rows.size(), order.limit));
}

void ReplyRows(const std::vector<SlotRow>& rows, bool measures, Reply& reply) {
  reply.Array(rows.size());
  for (const SlotRow& row : rows) {
    reply.Array(2);
    reply.Integer(row.slot);
    reply.Map(measures ? std::size(kMetrics) : 1);
    for (const Metric& metric : kMetrics) {
      if (metric.is_measured && !measures) continue;
      reply.Bulk(metric.name);
      reply.Integer(static_cast<int64_t>(metric.of(row)));
    }
  }
}

}  // namespace

// CLUSTER SLOT-STATS <SLOTSRANGE start-slot end-slot | ORDERBY metric [LIMIT limit] [ASC | DESC]>
Status ClusterSlotStats(const ClusterParts& parts, CommandContext&, Args& args, Reply& reply) {
  const bool measures = parts.slot_stats.is_on();
  const Cluster& cluster = *parts.cluster;
  if (args.left() == 3 && args.Keyword("slotsrange")) {
    const int first = TRY(ReadSlot(args.Bytes()));
    const int last = TRY(ReadSlot(args.Bytes()));
    if (first > last) {
      return Status::Reply(fmt::format("ERR Start slot number {} is greater than end slot number {}", first, last));
    }
    std::vector<SlotRow> rows = RowsOfShard(parts, first, last);
    TRY(CountKeysOf(cluster, rows));
    ReplyRows(rows, measures, reply);
    return Ok();
  }
  if (!args.Keyword("orderby")) {
    return Status::Reply(
        fmt::format("ERR unknown subcommand or wrong number of arguments for '{:.128}'. Try CLUSTER HELP.", args[1]));
  }
  const Order order = TRY(ReadOrder(args, measures));
  std::vector<SlotRow> rows = RowsOfShard(parts, 0, kSlotCount - 1);
  // Only the rows that are shown need the number of their keys, unless they are sorted by it.
  if (!order.metric->is_measured) TRY(CountKeysOf(cluster, rows));
  Sort(rows, order);
  if (order.metric->is_measured) TRY(CountKeysOf(cluster, rows));
  ReplyRows(rows, measures, reply);
  return Ok();
}

}  // namespace cairn
