// SPDX-License-Identifier: BSD-3-Clause
//
// MEMORY and its subcommands. A key's data is on disk; what USAGE tells is the memory that its rows
// take when all of them are in the key cache.
#include "base/number.h"
#include "command/context.h"
#include "command/help.h"
#include "encoding/varint.h"
#include "server/families.h"
#include "server/process_memory.h"
#include "server/report.h"
#include "server/server.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr uint64_t kRowOverheadBytes = 64;  // of a cached row beside its key and value
constexpr int64_t kDefaultSamples = 5;

uint64_t RowBytes(std::string_view row, std::string_view value) {
  return kRowOverheadBytes + row.size() + value.size();
}

// Elements in a row: a chunk of a list holds several (types/list_chunks.h), any other row is one.
uint64_t ElementsIn(Type type, std::string_view value) {
  if (type != Type::kList || value.empty()) return 1;
  std::string_view packed = value.substr(1);
  uint64_t count = 0;
  return ReadVarint(packed, count) && count > 0 ? count : 1;
}

// The bytes of all rows of a spread collection in `space`, from the average of the first `samples`;
// 0: all.
Result<uint64_t> EstimateRows(CommandContext& ctx, const Key& key, const SpreadPayload& spread,
                              Type type, Space space, uint64_t samples) {
  uint64_t rows = 0;
  uint64_t bytes = 0;
  uint64_t elements = 0;
  Cursor cursor = ctx.txn().Scan(MakeCollectionStart(space, spread.id, key.stripe()),
                                 MakeCollectionEnd(space, spread.id, key.stripe()));
  for (; cursor.Valid() && (samples == 0 || rows < samples); cursor.Next(), ++rows) {
    bytes += RowBytes(cursor.row(), cursor.value());
    elements += ElementsIn(type, cursor.value());
  }
  const bool complete = !cursor.Valid();
  TRY(cursor.TakeStatus());
  if (complete || elements == 0) return bytes;
  return static_cast<uint64_t>(static_cast<double>(bytes) / static_cast<double>(elements) *
                               static_cast<double>(spread.count));
}

// MEMORY USAGE key [SAMPLES count]
Status Usage(CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  Keyspace keys = ctx.keys();
  keys.TellMisses(false);
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
  uint64_t bytes = RowBytes(key.row().row(), entry.payload());
  if (entry.encoding() == Encoding::kSpread) {
    const SpreadPayload spread = TRY(DecodeSpreadPayload(entry.payload()));
    const auto n = static_cast<uint64_t>(samples);
    bytes += TRY(EstimateRows(ctx, key, spread, entry.type(), Space::kElements, n));
    if (entry.type() == Type::kZset)
      bytes += TRY(EstimateRows(ctx, key, spread, entry.type(), Space::kScores, n));
  }
  reply.Integer(static_cast<int64_t>(bytes));
  return Ok();
}

// MEMORY DOCTOR
Status Doctor(CommandContext& ctx, Args&, Reply& reply) {
  const auto set = static_cast<uint64_t>(ctx.server().settings().memory_budget.load());
  const uint64_t budget = set == 0 ? DefaultMemoryBudget() : set;
  const ProcessMemory memory = ProcessMemory::Read();
  std::string text = "The process takes " + HumanBytes(memory.rss) + " of memory; the budget is " +
                     HumanBytes(budget) + ". ";
  if (memory.rss <= budget) {
    text += "Nothing needs to be done.\n";
  } else {
    text +=
        "That is " + HumanBytes(memory.rss - budget) +
        " more than it should. See INFO cairn for who holds it: buffers of clients that do not "
        "read their replies are the usual reason (CLIENT LIST, client-output-buffer-limit).\n";
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
    "    Say whether memory is as it should be.",
    "PURGE",
    "    Give free pages back to the system.",
    "USAGE <key> [SAMPLES <count>]",
    "    The bytes <key> takes when all of it is in the key cache, estimated from <count>",
    "    of its elements (5 unless told otherwise, 0 for all).",
};

// MEMORY HELP
Status MemoryHelp(CommandContext&, Args&, Reply& reply) {
  ReplyHelp(reply, "MEMORY", kHelp);
  return Ok();
}

constexpr auto kGroup = Group::kServer;
constexpr std::string_view kPerShard =
    "nondeterministic_output request_policy:all_shards response_policy:special";

constexpr CommandRow kSubcommandRows[] = {
    {.name = "usage", .arity = -3, .flags = kReadonly, .keys = {OneKey(kRO, 2)}, .run = Usage,
     .group = kGroup, .since = "4.0.0", .summary = "Estimates the memory a key takes.",
     .complexity = "O(N) with N the number of samples", .syntax = "key [SAMPLES count]"},
    {.name = "doctor", .arity = 2, .flags = kSlowLane, .run = Doctor, .group = kGroup,
     .since = "4.0.0", .summary = "Says whether memory is as it should be.", .complexity = "O(1)",
     .tips = kPerShard},
    {.name = "purge", .arity = 2, .flags = kSlowLane, .run = Purge, .group = kGroup,
     .since = "4.0.0", .summary = "Gives free memory back to the system.",
     .complexity = "Depends on how much is free",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = MemoryHelp, .group = kGroup,
     .since = "4.0.0", .summary = "Describes the subcommands.", .complexity = "O(1)"},
};

constexpr CommandRow kRows[] = {
    {.name = "memory", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "4.0.0",
     .summary = "Commands about memory.", .complexity = "Depends on the subcommand.",
     .subcommands = kSubcommandRows},
};

}  // namespace

std::span<const CommandRow> MemoryCommands() { return kRows; }

}  // namespace cairn
