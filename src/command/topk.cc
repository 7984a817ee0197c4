// SPDX-License-Identifier: BSD-3-Clause
//
// Top-K sketches: TOPK.RESERVE, ADD, INCRBY, QUERY, COUNT, LIST and INFO.
#include "types/topk.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command/context.h"
#include "command/families.h"

namespace cairn {
namespace {

constexpr int64_t kMostIncrement = 100'000;
// With the blanks that RedisBloom's text has.
constexpr std::string_view kBadIncrement =
    "TopK: increment must be an integer greater or equal to 0                            and smaller or equal to "
    "100,000";

// A sketch with the key that it refers to.
struct Sketch {
  Sketch(CommandContext& ctx, std::string_view name) : keys(ctx.keys()), key(keys.Name(name)), value(keys, key) {}
  Status Open() {
    TRY(value.Open());
    return value.exists() ? Ok() : Status::Reply("TopK: key does not exist");
  }
  // Stores the sketch if it changed.
  Status Save(CommandContext& ctx) {
    if (TRY(value.Save())) ctx.Changed(kNoEvent, {}, key.bytes());
    return Ok();
  }

  Keyspace keys;
  const Key key;
  TopK value;
};

// Adds an item and replies the one that it expelled.
Status AddAndReply(TopK& sketch, std::string_view item, uint32_t by, Reply& reply) {
  const std::optional<std::string> expelled = TRY(sketch.Add(item, by));
  if (expelled) {
    reply.Bulk(*expelled);
  } else {
    reply.Null();
  }
  return Ok();
}

// TOPK.RESERVE key k [width depth decay]
Status TopKReserve(CommandContext& ctx, Args& args, Reply& reply) {
  if (args.size() != 3 && args.size() != 6) return Status::Reply(errors::WrongArity(ctx.command().full_name()));
  Sketch sketch(ctx, args.Bytes());
  KeyEntry entry = TRY(sketch.keys.Find(sketch.key));
  if (entry.exists()) return Status::Reply("TopK: key already exists");
  const int64_t k = args.IntegerIn(1, UINT32_MAX, "TopK: invalid k");
  TopK::State state{.width = 8, .depth = 7, .decay = 0.9};
  if (args.More()) {
    state.width = static_cast<uint64_t>(args.IntegerIn(1, UINT32_MAX, "TopK: invalid width"));
    state.depth = static_cast<uint64_t>(args.IntegerIn(1, UINT32_MAX, "TopK: invalid depth"));
    constexpr std::string_view kBadDecay = "TopK: invalid decay value. must be '<= 1' & '> 0'";
    state.decay = args.Float(kBadDecay);
    if (state.decay <= 0 || state.decay > 1) args.Fail(kBadDecay);
  }
  TRY(args.Done());
  if (!TopK::Fits(static_cast<uint64_t>(k), state.width, state.depth)) {
    return Status::Reply("ERR Insufficient memory to create topk data structure");
  }
  state.heap.resize(static_cast<size_t>(k));
  TRY(sketch.value.Open(std::move(entry)));
  sketch.value.Create(std::move(state));
  TRY(sketch.Save(ctx));
  reply.Ok();
  return Ok();
}

// TOPK.ADD key item [item ...]
Status TopKAdd(CommandContext& ctx, Args& args, Reply& reply) {
  Sketch sketch(ctx, args.Bytes());
  TRY(sketch.Open());
  reply.Array(args.left());
  while (args.More()) TRY(AddAndReply(sketch.value, args.Bytes(), 1, reply));
  return sketch.Save(ctx);
}

// TOPK.INCRBY key item increment [item increment ...]
// Like RedisBloom, it keeps the increments before a bad one, whose error is the last element of the reply.
Status TopKIncrBy(CommandContext& ctx, Args& args, Reply& reply) {
  if (args.size() % 2 != 0) return Status::Reply(errors::WrongArity(ctx.command().full_name()));
  Sketch sketch(ctx, args.Bytes());
  TRY(sketch.Open());
  const size_t mark = reply.Later();
  size_t count = 0;
  while (args.More()) {
    ++count;
    const std::string_view item = args.Bytes();
    const int64_t by = args.IntegerIn(0, kMostIncrement, kBadIncrement);
    const Status status = args.Check();
    if (!status.ok()) {
      reply.Error(status.text());
      break;
    }
    TRY(AddAndReply(sketch.value, item, static_cast<uint32_t>(by), reply));
  }
  reply.FinishArray(mark, count);
  return sketch.Save(ctx);
}

// TOPK.QUERY key item [item ...]
Status TopKQuery(CommandContext& ctx, Args& args, Reply& reply) {
  Sketch sketch(ctx, args.Bytes());
  TRY(sketch.Open());
  reply.Array(args.left());
  while (args.More()) reply.Bool(TRY(sketch.value.Contains(args.Bytes())));
  return Ok();
}

// TOPK.COUNT key item [item ...]
Status TopKCount(CommandContext& ctx, Args& args, Reply& reply) {
  Sketch sketch(ctx, args.Bytes());
  TRY(sketch.Open());
  reply.Array(args.left());
  while (args.More()) reply.Integer(TRY(sketch.value.Count(args.Bytes())));
  return Ok();
}

// TOPK.LIST key [WITHCOUNT]
Status TopKList(CommandContext& ctx, Args& args, Reply& reply) {
  if (args.size() > 3) return Status::Reply(errors::WrongArity(ctx.command().full_name()));
  Sketch sketch(ctx, args.Bytes());
  const bool with_count = args.Keyword("withcount");
  if (args.More()) return Status::Reply("WITHCOUNT keyword expected");
  TRY(sketch.Open());
  const std::vector<TopK::Slot> slots = sketch.value.List();
  reply.Array(slots.size() * (with_count ? 2 : 1));
  for (const auto& [item, count] : slots) {
    reply.Bulk(*item);
    if (with_count) reply.Integer(count);
  }
  return Ok();
}

// TOPK.INFO key
Status TopKInfo(CommandContext& ctx, Args& args, Reply& reply) {
  Sketch sketch(ctx, args.Bytes());
  TRY(sketch.Open());
  const TopK::State& state = sketch.value.state();
  reply.Map(4);
  reply.Simple("k");
  reply.Integer(static_cast<int64_t>(state.heap.size()));
  reply.Simple("width");
  reply.Integer(static_cast<int64_t>(state.width));
  reply.Simple("depth");
  reply.Integer(static_cast<int64_t>(state.depth));
  reply.Simple("decay");
  reply.Double(state.decay);
  return Ok();
}

constexpr auto kGroup = Group::kTopK;

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "topk.reserve", .arity = -3, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kInsert)},
     .run = TopKReserve, .group = kGroup, .since = "2.0.0", .summary = "Creates an empty Top-K sketch.",
     .complexity = "O(1)", .syntax = "key topk:integer [width:integer depth:integer decay:double]"},
    {.name = "topk.add", .arity = -3, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kUpdate | kAccess)},
     .run = TopKAdd, .group = kGroup, .since = "2.0.0",
     .summary = "Adds items to a Top-K sketch, and returns the items that they expelled.",
     .complexity = "O(N*(K+D)) with N items, K items kept and a depth of D", .syntax = "key items [items ...]"},
    {.name = "topk.incrby", .arity = -4, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kUpdate | kAccess)},
     .run = TopKIncrBy, .group = kGroup, .since = "2.0.0",
     .summary = "Increments items of a Top-K sketch, and returns the items that they expelled.",
     .complexity = "O(N*(K+D*I)) with N items, K items kept, a depth of D and increments of I",
     .syntax = "key item increment [item increment ...]"},
    {.name = "topk.query", .arity = -3, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = TopKQuery,
     .group = kGroup, .since = "2.0.0", .summary = "Checks whether items are among those that a Top-K sketch keeps.",
     .complexity = "O(N*K) with N items and K items kept", .syntax = "key item [item ...]"},
    {.name = "topk.count", .arity = -3, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = TopKCount,
     .group = kGroup, .since = "2.0.0", .summary = "Returns the counts of items of a Top-K sketch.",
     .complexity = "O(N*(K+D)) with N items, K items kept and a depth of D", .syntax = "key item [item ...]"},
    {.name = "topk.list", .arity = -2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = TopKList,
     .group = kGroup, .since = "2.0.0", .summary = "Returns the items that a Top-K sketch keeps.",
     .complexity = "O(K*log(K)) with K items kept", .syntax = "key [WITHCOUNT]"},
    {.name = "topk.info", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = TopKInfo,
     .group = kGroup, .since = "2.0.0", .summary = "Returns the dimensions and the decay of a Top-K sketch.",
     .complexity = "O(1)", .syntax = "key"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> TopKCommands() { return kRows; }

}  // namespace cairn
