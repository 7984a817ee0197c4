// SPDX-License-Identifier: BSD-3-Clause
//
// HREPLACE, SREPLACE and ZREPLACE: store a complete collection under a key, in one write and without reading the old
// elements. As with SET, the old value may have any type, and its expiry is removed. The new value is packed if the
// limits allow it, even if the old value was spread.
//
// The reply is the number of elements. If a field or member is named more than once, the last one counts.
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "encoding/packed.h"
#include "types/hash.h"
#include "types/set_builder.h"
#include "types/zset.h"

namespace cairn {
namespace {

// Emits and replicates the replacement, as commands that any server understands.
void EmitReplaced(CommandContext& ctx, Args& args, const KeyEntry& old, EventClass of, std::string_view event,
                  std::string_view adding) {
  ctx.Changed(of, event, args[1]);
  if (!ctx.is_replicated()) return;
  if (old.exists()) ctx.Replicate({"DEL", args[1]});
  std::vector<std::string_view> words(args.all().begin(), args.all().end());
  words[0] = adding;
  ctx.Replicate(words);
}

// HREPLACE key field value [field value ...]
Status HReplace(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  if (args.left() % 2 != 0) return Status::Reply(errors::WrongArity(ctx.command().full_name()));
  std::vector<Item> pairs;
  pairs.reserve(args.left());
  absl::flat_hash_map<std::string_view, size_t> value_positions;
  while (args.More()) {
    const std::string_view field = args.Bytes();
    const Item value = Item::FromText(args.Bytes());
    const auto [known, is_new] = value_positions.try_emplace(field, pairs.size() + 1);
    if (is_new) {
      pairs.push_back(Item::FromText(field));
      pairs.push_back(value);
    } else {
      pairs[known->second] = value;
    }
  }
  TRY(ctx.txn().command().Spend(pairs.size() / 2));
  const KeyEntry entry = TRY(keys.Find(key, Access::kPeek));
  TRY(Hash::Replace(keys, key, entry, pairs));
  EmitReplaced(ctx, args, entry, kHashEvent, "hreplace", "HSET");
  reply.Integer(static_cast<int64_t>(pairs.size() / 2));
  return Ok();
}

// SREPLACE key member [member ...]
Status SReplace(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  SetBuilder members(keys);
  while (args.More()) members.Add(args.Bytes());
  const KeyEntry entry = TRY(keys.Find(key, Access::kPeek));
  TRY(members.StoreTo(key, entry, kNoExpiry));
  EmitReplaced(ctx, args, entry, kSetEvent, "sreplace", "SADD");
  reply.Integer(static_cast<int64_t>(members.size()));
  return Ok();
}

// ZREPLACE key score member [score member ...]
Status ZReplace(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  if (args.left() % 2 != 0) return Status::Reply(errors::kSyntax);
  absl::flat_hash_map<std::string_view, double> scores;
  while (args.More()) {
    const double score = args.Float();
    scores.insert_or_assign(args.Bytes(), score);
  }
  TRY(args.Check());
  TRY(ctx.txn().command().Spend(scores.size()));
  std::vector<ScoredMember> elements;
  elements.reserve(scores.size());
  for (const auto& [member, score] : scores) elements.push_back({std::string(member), score});
  const KeyEntry entry = TRY(keys.Find(key, Access::kPeek));
  const auto count = static_cast<int64_t>(elements.size());
  TRY(Zset::Replace(keys, key, entry, std::move(elements)));
  EmitReplaced(ctx, args, entry, kZsetEvent, "zreplace", "ZADD");
  reply.Integer(count);
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "hreplace", .arity = -4, .flags = kWrite | kDenyOom, .keys = {OneKey(kOW | kUpdate)}, .run = HReplace,
     .group = Group::kHash, .since = "7.2.0", .summary = "Replaces a key's value of any type by a new hash.",
     .complexity = "O(N) with N the number of fields given", .syntax = "key field value [field value ...]"},
    {.name = "sreplace", .arity = -3, .flags = kWrite | kDenyOom, .keys = {OneKey(kOW | kUpdate)}, .run = SReplace,
     .group = Group::kSet, .since = "7.2.0", .summary = "Replaces a key's value of any type by a new set.",
     .complexity = "O(N) with N the number of members given", .syntax = "key member [member ...]"},
    {.name = "zreplace", .arity = -4, .flags = kWrite | kDenyOom, .keys = {OneKey(kOW | kUpdate)}, .run = ZReplace,
     .group = Group::kSortedSet, .since = "7.2.0", .summary = "Replaces a key's value of any type by a new sorted set.",
     .complexity = "O(N*log(N)) with N the number of members given",
     .syntax = "key score:double member [score:double member ...]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ReplaceCommands() { return kRows; }

}  // namespace cairn
