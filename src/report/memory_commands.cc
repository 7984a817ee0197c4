// SPDX-License-Identifier: BSD-3-Clause
//
// MEMORY and its subcommands. Data is on the disk; USAGE reports the memory that a key's rows take if all of them are
// in the key cache.
#include <algorithm>

#include "base/human_bytes.h"
#include "base/number.h"
#include "client/client_memory.h"
#include "command/help.h"
#include "command/parts.h"
#include "config/settings.h"
#include "doctor/rules.h"
#include "report/families.h"
#include "report/report.h"
#include "script/scripting.h"
#include "stats/process_memory.h"
#include "stats/server_state.h"
#include "storage/store.h"
#include "types/value_memory.h"

namespace cairn {
namespace {

constexpr int64_t kDefaultSamples = 5;

// MEMORY USAGE key [SAMPLES count]
Status Usage(CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  Keyspace keys = ctx.keys();
  keys.EmitMisses(false);
  const Key key = keys.Name(args.Bytes());
  int64_t samples = kDefaultSamples;
  while (args.More()) {
    if (args.left() < 2 || !args.Keyword("samples")) return Status::Reply(errors::kSyntax);
    samples = args.Integer();
    TRY(args.Check());
    if (samples < 0) return Status::Reply(errors::kSyntax);
  }
  const KeyEntry entry = TRY(keys.Find(key, Access::kPeek));
  if (!entry.exists()) {
    reply.Null();
    return Ok();
  }
  const auto n = static_cast<uint64_t>(samples);
  reply.Integer(static_cast<int64_t>(TRY(MemoryOf(ctx.txn(), key, entry, n))));
  return Ok();
}

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Two sizes, the first of which includes the second: their ratio and their difference.
struct Excess {
  std::string_view ratio_name;
  std::string_view bytes_name;
  uint64_t bytes;
  uint64_t used_bytes;
};

void ReplyField(Reply& reply, std::string_view name, uint64_t value) {
  reply.Bulk(name);
  reply.Integer(static_cast<int64_t>(value));
}

void ReplyExcess(Reply& reply, const Excess& excess) {
  reply.Bulk(excess.ratio_name);
  reply.Double(Ratio(excess.bytes, excess.used_bytes));
  reply.Bulk(excess.bytes_name);
  reply.Integer(static_cast<int64_t>(excess.bytes - excess.used_bytes));
}

void ReplyAllocator(Reply& reply, const ProcessMemory& memory) {
  ReplyField(reply, "allocator.allocated", memory.allocated);
  ReplyField(reply, "allocator.active", memory.active);
  ReplyField(reply, "allocator.resident", memory.resident);
  ReplyExcess(reply,
              {"allocator-fragmentation.ratio", "allocator-fragmentation.bytes", memory.active, memory.allocated});
  ReplyExcess(reply, {"allocator-rss.ratio", "allocator-rss.bytes", memory.resident, memory.active});
  ReplyExcess(reply, {"rss-overhead.ratio", "rss-overhead.bytes", memory.rss, memory.resident});
  ReplyExcess(reply, {"fragmentation", "fragmentation.bytes", memory.rss, memory.allocated});
}

// Databases with keys, with the sizes of their hash tables; Cairn has none, so the sizes are 0.
size_t ReplyDatabases(CommandContext& ctx, Reply& reply, uint64_t& keys) {
  size_t shown = 0;
  for (int db = 0; db < ctx.txn().store().databases().size(); ++db) {
    const auto count = static_cast<uint64_t>(std::max<int64_t>(0, ctx.keys(db).Count()));
    if (count == 0) continue;
    keys += count;
    ++shown;
    reply.Bulk("db." + std::to_string(db));
    reply.Map(3);
    ReplyField(reply, "overhead.hashtable.main", 0);
    ReplyField(reply, "overhead.hashtable.expires", 0);
    ReplyField(reply, "overhead.hashtable.slot-to-keys", 0);
  }
  return shown;
}

// MEMORY STATS: the data set counts as far as it is in memory, in rows of the key cache and in memtables; everything
// else is overhead.
Status MemoryStats(const MemoryParts& parts, CommandContext& ctx, Args&, Reply& reply) {
  constexpr size_t kFields = 27;
  const ProcessMemory memory = ProcessMemory::Read();
  const uint64_t peak = parts.memory_peak.Note(memory.allocated);
  const uint64_t start = std::min(parts.memory_peak.start(), memory.allocated);
  Store& store = ctx.txn().store();
  const uint64_t rows = std::min<uint64_t>(store.cache().usage() + store.engine().MemtableBytes(), memory.allocated);
  const ClientMemory::Totals clients = parts.client_memory.totals();
  uint64_t keys = 0;
  const size_t mark = reply.Later();
  ReplyField(reply, "peak.allocated", peak);
  ReplyField(reply, "total.allocated", memory.allocated);
  ReplyField(reply, "startup.allocated", start);
  ReplyField(reply, "replication.backlog", store.log().tail().bytes());
  ReplyField(reply, "clients.slaves", clients.replicas);
  ReplyField(reply, "clients.normal", clients.normal);
  ReplyField(reply, "cluster.links", 0);
  ReplyField(reply, "aof.buffer", 0);
  ReplyField(reply, "lua.caches", parts.scripting.cache().bytes() + parts.scripting.vm_bytes());
  ReplyField(reply, "functions.caches", parts.scripting.libraries()->bytes());
  const size_t databases = ReplyDatabases(ctx, reply, keys);
  ReplyField(reply, "overhead.total", memory.allocated - rows);
  ReplyField(reply, "keys.count", keys);
  ReplyField(reply, "keys.bytes-per-key", keys == 0 ? 0 : (memory.allocated - start) / keys);
  ReplyField(reply, "dataset.bytes", rows);
  reply.Bulk("dataset.percentage");
  reply.Double(100 * std::min(1.0, Ratio(rows, memory.allocated - start)));
  reply.Bulk("peak.percentage");
  reply.Double(100 * Ratio(memory.allocated, peak));
  ReplyAllocator(reply, memory);
  reply.FinishMap(mark, kFields + databases);
  return Ok();
}

// MEMORY MALLOC-STATS
Status MallocStats(CommandContext&, Args&, Reply& reply) {
  reply.Verbatim("txt", DescribeAllocator());
  return Ok();
}

// MEMORY DOCTOR
Status Doctor(const MemoryParts& parts, CommandContext&, Args&, Reply& reply) {
  const uint64_t budget = MemoryBudget(parts.settings);
  const uint64_t resident = ProcessMemory::Read().rss;
  Facts facts;
  facts.info = {{"memory_budget", std::to_string(budget)}, {"used_rss_bytes", std::to_string(resident)}};
  std::vector<Finding> findings;
  CheckBudget(facts, findings);
  std::string text;
  for (const Finding& finding : findings) text += finding.problem + " " + finding.action + "\n";
  if (findings.empty()) {
    text = "The process takes " + HumanBytes(resident) + " of memory; the budget is " + HumanBytes(budget) +
           ". Nothing needs to be done.\n";
  }
  reply.Verbatim("txt", text);
  return Ok();
}

// MEMORY PURGE
Status Purge(CommandContext&, Args&, Reply& reply) {
  PurgeFreeMemory();
  reply.Ok();
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "DOCTOR",
    "    Describe problems with memory.",
    "MALLOC-STATS",
    "    Show the memory allocator's report.",
    "PURGE",
    "    Return free pages to the kernel.",
    "STATS",
    "    Show the use of memory.",
    "USAGE <key> [SAMPLES <count>]",
    "    Estimate the bytes that <key> takes if all of it is in the key cache, from <count>",
    "    of its elements (default: 5; 0: all).",
};

constexpr auto kGroup = Group::kServer;
constexpr std::string_view kPerShard = "nondeterministic_output request_policy:all_shards response_policy:special";

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "usage", .arity = -3, .flags = kReadonly, .keys = {OneKey(kRO, 2)}, .run = Usage, .group = kGroup,
     .since = "4.0.0", .summary = "Estimates the memory a key takes.",
     .complexity = "O(N) with N the number of samples", .syntax = "key [SAMPLES count]"},
    {.name = "doctor", .arity = 2, .flags = kSlowLane, .run = With<Doctor>, .group = kGroup, .since = "4.0.0",
     .summary = "Describes problems with memory.", .complexity = "O(1)", .tips = kPerShard},
    {.name = "purge", .arity = 2, .flags = kSlowLane, .run = Purge, .group = kGroup, .since = "4.0.0",
     .summary = "Returns free memory to the kernel.", .complexity = "Depends on the amount of free memory.",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "stats", .arity = 2, .flags = kSlowLane, .run = With<MemoryStats>, .group = kGroup, .since = "4.0.0",
     .summary = "Returns the use of memory.", .complexity = "O(1)", .tips = kPerShard},
    {.name = "malloc-stats", .arity = 2, .flags = kSlowLane, .run = MallocStats, .group = kGroup, .since = "4.0.0",
     .summary = "Returns the memory allocator's report.", .complexity = "Depends on the amount of used memory.",
     .tips = kPerShard},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kHelp>, .group = kGroup, .since = "4.0.0",
     .summary = "Describes the subcommands.", .complexity = "O(1)"},
};

constexpr CommandRow kRows[] = {
    {.name = "memory", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "4.0.0",
     .summary = "Commands about memory.", .complexity = "Depends on the subcommand.", .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> MemoryCommands() { return kRows; }

}  // namespace cairn
