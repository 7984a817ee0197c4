// SPDX-License-Identifier: BSD-3-Clause
//
// OBJECT: the representation of a value, in Redis's terms.
//
// The names are Redis's for a value of that type and size; the real layout is described in types/ and docs/format.md.
// These commands do not count as uses of the key.
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/help.h"
#include "types/value_types.h"

namespace cairn {
namespace {

constexpr std::string_view kNoFrequency =
    "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when "
    "switching between policies at runtime LRU and LFU data will take some time to adjust.";

constexpr std::string_view kNoIdleTime =
    "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching between "
    "policies at runtime LRU and LFU data will take some time to adjust.";

Result<KeyEntry> Look(CommandContext& ctx, Args& args) {
  Keyspace keys = ctx.keys();
  keys.EmitMisses(false);
  args.Skip(1);  // the subcommand
  return keys.Find(keys.Name(args.Bytes()), Access::kPeek);
}

// OBJECT ENCODING key
Status ObjectEncoding(CommandContext& ctx, Args& args, Reply& reply) {
  const KeyEntry entry = TRY(Look(ctx, args));
  if (entry.exists()) {
    reply.Bulk(ValueTypeOf(entry).encoding_name(entry));
  } else {
    reply.Null();
  }
  return Ok();
}

// OBJECT REFCOUNT key
Status ObjectRefCount(CommandContext& ctx, Args& args, Reply& reply) {
  const KeyEntry entry = TRY(Look(ctx, args));
  if (!entry.exists()) {
    reply.Null();
    return Ok();
  }
  reply.Integer(TRY(ValueTypeOf(entry).references(entry)));
  return Ok();
}

// OBJECT FREQ key
Status ObjectFreq(CommandContext& ctx, Args& args, Reply& reply) {
  if (!TRY(Look(ctx, args)).exists()) {
    reply.Null();
    return Ok();
  }
  const auto frequency = ctx.txn().uses().Frequency(ctx.keys().Name(args[2]).row(), ctx.txn().command().now_s());
  if (!frequency) return Status::Reply(kNoFrequency);
  reply.Integer(*frequency);
  return Ok();
}

// OBJECT IDLETIME key
Status ObjectIdleTime(CommandContext& ctx, Args& args, Reply& reply) {
  if (!TRY(Look(ctx, args)).exists()) {
    reply.Null();
    return Ok();
  }
  const Key key = ctx.keys().Name(args[2]);
  if (ctx.txn().uses().Frequency(key.row(), ctx.txn().command().now_s())) return Status::Reply(kNoIdleTime);
  reply.Integer(ctx.txn().uses().IdleSeconds(key.row(), ctx.txn().command().now_s()));
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "ENCODING <key>", "    Return the name of the encoding of the value under <key>.",
    "FREQ <key>",     "    Return how frequently <key> is used, on a logarithmic scale.",
    "IDLETIME <key>", "    Return approximately the seconds since <key> was last used.",
    "REFCOUNT <key>", "    Return the number of references to the value under <key>.",
};

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "encoding", .arity = 3, .flags = kReadonly, .keys = {OneKey(kRO, 2)}, .run = ObjectEncoding,
     .since = "2.2.3", .summary = "Returns the name of a value's encoding.", .complexity = "O(1)", .syntax = "key",
     .tips = "nondeterministic_output"},
    {.name = "freq", .arity = 3, .flags = kReadonly, .keys = {OneKey(kRO, 2)}, .run = ObjectFreq, .since = "4.0.0",
     .summary = "Returns how frequently a key is used.", .complexity = "O(1)", .syntax = "key",
     .tips = "nondeterministic_output"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kHelp>, .since = "6.2.0",
     .summary = "Describes the subcommands.", .complexity = "O(1)"},
    {.name = "idletime", .arity = 3, .flags = kReadonly, .keys = {OneKey(kRO, 2)}, .run = ObjectIdleTime,
     .since = "2.2.3", .summary = "Returns the seconds since a key was last used.", .complexity = "O(1)",
     .syntax = "key", .tips = "nondeterministic_output"},
    {.name = "refcount", .arity = 3, .flags = kReadonly, .keys = {OneKey(kRO, 2)}, .run = ObjectRefCount,
     .since = "2.2.3", .summary = "Returns the number of references to a value.", .complexity = "O(1)", .syntax = "key",
     .tips = "nondeterministic_output"},
};

constexpr CommandRow kRows[] = {
    {.name = "object", .arity = -2, .flags = kSubcommands, .since = "2.2.3",
     .summary = "Returns details of the representation of a value.", .complexity = "That of the subcommand",
     .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ObjectCommands() { return kRows; }

}  // namespace cairn
