// SPDX-License-Identifier: BSD-3-Clause
//
// Commands for keys of any type: delete, exists, type, rename, copy, move. Expiry is in expire.cc, whole databases are
// in database.cc.
//
// DEL and UNLINK are the same here: the time to delete a collection does not depend on its size.
#include "command/args.h"
#include "command/context.h"
#include "command/database_index.h"
#include "command/families.h"
#include "command/fixed.h"
#include "types/copy.h"
#include "types/value_types.h"

namespace cairn {
namespace {

// DEL key [key ...], UNLINK key [key ...]
Status Del(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  int64_t deleted = 0;
  while (args.More()) {
    const Key key = keys.Name(args.Bytes());
    const KeyEntry entry = TRY(keys.Find(key, Access::kPeek));
    if (!entry.exists()) continue;
    TRY(keys.Remove(key, entry));
    ctx.Changed(kGenericEvent, "del", key.bytes());
    ++deleted;
  }
  reply.Integer(deleted);
  return Ok();
}

// EXISTS and TOUCH.
Status CountExisting(CommandContext& ctx, Args& args, Reply& reply, Access access) {
  Keyspace keys = ctx.keys();
  int64_t found = 0;
  while (args.More()) {
    const Key key = keys.Name(args.Bytes());
    if (TRY(keys.Find(key, access)).exists()) ++found;
  }
  reply.Integer(found);
  return Ok();
}

// TYPE key
Status TypeOf(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const KeyEntry entry = TRY(keys.Find(key, Access::kPeek));
  reply.Simple(entry.exists() ? ValueTypeOf(entry).name : "none");
  return Ok();
}

enum class Taken : unsigned char { kReplace, kLeave };

// Renames a key. Returns false if the new name exists and must not be replaced. A missing source is an error.
Result<bool> RenameKey(CommandContext& ctx, Args& args, Taken taken) {
  Keyspace keys = ctx.keys();
  const Key source = keys.Name(args.Bytes());
  const Key target = keys.Name(args.Bytes());
  const KeyEntry entry = TRY(keys.Find(source));
  if (!entry.exists()) return Status::Reply(errors::kNoSuchKey);
  if (source.bytes() == target.bytes()) return taken == Taken::kReplace;
  if (taken == Taken::kLeave && TRY(keys.Find(target, Access::kPeek)).exists()) return false;
  TRY(Keyspace::Move(keys, source, entry, keys, target));
  ctx.Changed(kGenericEvent, "rename_from", source.bytes());
  ctx.Emit(kGenericEvent, "rename_to", target.bytes());
  return true;
}

// RENAME key newkey
Status Rename(CommandContext& ctx, Args& args, Reply& reply) {
  TRY(RenameKey(ctx, args, Taken::kReplace));
  reply.Ok();
  return Ok();
}

// RENAMENX key newkey
Status RenameNx(CommandContext& ctx, Args& args, Reply& reply) {
  reply.Integer(TRY(RenameKey(ctx, args, Taken::kLeave)) ? 1 : 0);
  return Ok();
}

// MOVE key db
//
// A key has the same lock stripe in every database, so one stripe covers both places.
Status MoveKey(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view name = args.Bytes();
  const int db = TRY(ParseDatabase(ctx, args));
  Keyspace from = ctx.keys();
  if (db == from.db()) return Status::Reply(errors::kSameObject);
  Keyspace to = ctx.keys(db);
  const Key source = from.Name(name);
  const Key target = to.Name(name);
  const KeyEntry entry = TRY(from.Find(source));
  const bool moves = entry.exists() && !TRY(to.Find(target, Access::kPeek)).exists();
  if (moves) {
    TRY(MoveValue(from, source, entry, to, target));
    ctx.Changed(kGenericEvent, "move_from", name);
    ctx.EmitIn(db, kGenericEvent, "move_to", name);
  }
  reply.Integer(moves ? 1 : 0);
  return Ok();
}

struct CopyOptions {
  int db;
  bool replace = false;
};

Result<CopyOptions> ParseCopyOptions(CommandContext& ctx, Args& args) {
  CopyOptions options = {.db = ctx.keys().db()};
  while (args.More()) {
    if (args.Keyword("replace")) {
      options.replace = true;
    } else if (args.left() >= 2 && args.Keyword("db")) {
      options.db = TRY(ParseDatabase(ctx, args));
    } else {
      args.Fail(errors::kSyntax);
    }
  }
  TRY(args.Done());
  return options;
}

// COPY source destination [DB destination-db] [REPLACE]
Status Copy(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view source_name = args.Bytes();
  const std::string_view target_name = args.Bytes();
  const CopyOptions options = TRY(ParseCopyOptions(ctx, args));
  Keyspace from = ctx.keys();
  from.EmitMisses(true);
  Keyspace to = ctx.keys(options.db);
  if (from.db() == to.db() && source_name == target_name) return Status::Reply(errors::kSameObject);
  const Key source = from.Name(source_name);
  const KeyEntry entry = TRY(from.Find(source));
  const Key target = to.Name(target_name);
  const KeyEntry old = TRY(to.Find(target, Access::kPeek));
  const bool copies = entry.exists() && (options.replace || !old.exists());
  if (copies) {
    if (old.exists()) to.EmitNew(target);
    TRY(CopyValue(source, entry, to, target, old));
    ctx.CountChanges(1);
    ctx.EmitIn(to.db(), kGenericEvent, "copy_to", target_name);
  }
  reply.Integer(copies ? 1 : 0);
  return Ok();
}

constexpr std::string_view kSumOverShards = "request_policy:multi_shard response_policy:agg_sum";

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "del", .arity = -2, .flags = kWrite, .keys = {KeysToEnd(kRM | kDelete)}, .run = Del, .since = "1.0.0",
     .summary = "Deletes keys.", .complexity = "O(N) with N the number of keys", .syntax = "key [key ...]",
     .tips = kSumOverShards},
    {.name = "unlink", .arity = -2, .flags = kWrite | kFast, .keys = {KeysToEnd(kRM | kDelete)}, .run = Del,
     .since = "4.0.0", .summary = "Deletes keys and frees their space later.",
     .complexity = "O(N) with N the number of keys", .syntax = "key [key ...]", .tips = kSumOverShards},
    {.name = "exists", .arity = -2, .flags = kReadonly | kFast, .keys = {KeysToEnd(kRO)},
     .run = Fixed<CountExisting, Access::kPeek>, .since = "1.0.0", .summary = "Returns how many of the keys exist.",
     .complexity = "O(N) with N the number of keys", .syntax = "key [key ...]", .tips = kSumOverShards},
    {.name = "touch", .arity = -2, .flags = kReadonly | kFast, .keys = {KeysToEnd(kRO)},
     .run = Fixed<CountExisting, Access::kUse>, .since = "3.2.1",
     .summary = "Marks keys as used and returns how many of them exist.",
     .complexity = "O(N) with N the number of keys", .syntax = "key [key ...]", .tips = kSumOverShards},
    {.name = "type", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO)}, .run = TypeOf, .since = "1.0.0",
     .summary = "Returns the type of the value under a key.", .complexity = "O(1)", .syntax = "key"},
    {.name = "rename", .arity = 3, .flags = kWrite, .keys = {OneKey(kRW | kAccess | kDelete), OneKey(kOW | kUpdate, 2)},
     .run = Rename, .since = "1.0.0", .summary = "Renames a key and replaces a key of the new name.",
     .complexity = "O(1)", .syntax = "key newkey"},
    {.name = "renamenx", .arity = 3, .flags = kWrite | kFast,
     .keys = {OneKey(kRW | kAccess | kDelete), OneKey(kOW | kInsert, 2)}, .run = RenameNx, .since = "1.0.0",
     .summary = "Renames a key unless the new name exists.", .complexity = "O(1)", .syntax = "key newkey"},
    {.name = "copy", .arity = -3, .flags = kWrite | kDenyOom, .keys = {OneKey(kRO | kAccess), OneKey(kOW | kUpdate, 2)},
     .run = Copy, .since = "6.2.0", .summary = "Copies the value and expiry of a key to another key.",
     .complexity = "O(N) with N the number of elements of a large collection, else O(1)",
     .syntax = "source destination [DB destination-db] [REPLACE]"},
    {.name = "move", .arity = 3, .flags = kWrite | kFast, .keys = {OneKey(kRW | kAccess | kUpdate)}, .run = MoveKey,
     .since = "1.0.0", .summary = "Moves a key to another database.", .complexity = "O(1)", .syntax = "key db"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> GenericCommands() { return kRows; }

}  // namespace cairn
