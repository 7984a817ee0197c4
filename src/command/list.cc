// SPDX-License-Identifier: BSD-3-Clause
//
// Lists by end and by index: pushing, popping, reading ranges. Searches for a value are in list_search.cc, moves
// between lists in list_move.cc, blocking forms in list_block.cc.
#include "types/list.h"

#include <algorithm>
#include <optional>

#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/fixed.h"
#include "command/list_move.h"
#include "command/named.h"
#include "storage/store.h"

namespace cairn {
namespace {

// LPUSH, RPUSH, LPUSHX and RPUSHX.
// key element [element ...]
Status Push(CommandContext& ctx, Args& args, Reply& reply, ListEnd end, bool only_existing) {
  Named<List> list(ctx, args[1]);
  TRY(list.Open());
  if (list.exists() || !only_existing) {
    TRY(list.Push(end, args.all().subspan(2)));
    TRY(list.Save());
    ctx.Changed(kListEvent, PushEvent(end), list.key.bytes(), args.size() - 2);
  }
  reply.Integer(static_cast<int64_t>(list.size()));
  return Ok();
}

// LPOP and RPOP.
// key [count]
Status Pop(CommandContext& ctx, Args& args, Reply& reply, ListEnd end) {
  if (args.size() > 3) return Status::Reply(errors::WrongArity(ctx.command().full_name()));
  const std::string_view name = args.Bytes();
  std::optional<uint64_t> count;
  if (args.More()) count = static_cast<uint64_t>(args.IntegerIn(0, INT64_MAX, errors::kNotPositive));
  TRY(args.Done());

  Named<List> list(ctx, name);
  TRY(list.Open());
  if (!list.exists()) {
    if (count) {
      reply.NullArray();
    } else {
      reply.Null();
    }
    return Ok();
  }
  const uint64_t n = std::min(count.value_or(1), list.size());
  if (count) reply.Array(n);
  if (n == 0) return Ok();
  TRY(list.Pop(end, n, [&reply](const Item& item) { ReplyItem(reply, item); }));
  const bool is_empty = list.size() == 0;
  TRY(list.Save());
  ctx.Shrunk(kListEvent, PopEvent(end), name, n, is_empty);
  return Ok();
}

// LLEN key
Status LLen(CommandContext& ctx, Args& args, Reply& reply) {
  Named<List> list(ctx, args.Bytes());
  TRY(list.Open());
  reply.Integer(static_cast<int64_t>(list.size()));
  return Ok();
}

// Converts a client's index, negative from the end; nullopt if there is no such element.
std::optional<uint64_t> ResolveIndex(int64_t index, uint64_t size) {
  if (index < 0) index += static_cast<int64_t>(size);
  if (index < 0 || static_cast<uint64_t>(index) >= size) return std::nullopt;
  return static_cast<uint64_t>(index);
}

// The elements from `start` to `stop`, both inclusive and possibly negative; n is 0 if the range is empty.
struct IndexRange {
  uint64_t start = 0;
  uint64_t n = 0;
};
IndexRange ResolveRange(int64_t start, int64_t stop, uint64_t size) {
  const auto end = static_cast<int64_t>(size);
  if (start < 0) start = std::max<int64_t>(start + end, 0);
  if (stop < 0) stop += end;
  stop = std::min(stop, end - 1);
  if (start > stop) return {};
  return {static_cast<uint64_t>(start), static_cast<uint64_t>(stop - start + 1)};
}

// LINDEX key index
Status LIndex(CommandContext& ctx, Args& args, Reply& reply) {
  Named<List> list(ctx, args.Bytes());
  TRY(list.Open());
  if (!list.exists()) {
    reply.Null();
    return Ok();
  }
  const auto index = ResolveIndex(args.Integer(), list.size());
  TRY(args.Done());
  if (!index) {
    reply.Null();
    return Ok();
  }
  return list.ForEach(*index, 1, [&reply](const Item& item) { ReplyItem(reply, item); });
}

// LSET key index element
Status LSet(CommandContext& ctx, Args& args, Reply& reply) {
  Named<List> list(ctx, args.Bytes());
  TRY(list.Open());
  if (!list.exists()) return Status::Reply(errors::kNoSuchKey);
  const auto index = ResolveIndex(args.Integer(), list.size());
  const std::string_view value = args.Bytes();
  TRY(args.Done());
  if (!index) return Status::Reply(errors::kIndexRange);
  TRY(list.Set(*index, value));
  TRY(list.Save());
  ctx.Changed(kListEvent, "lset", list.key.bytes());
  reply.Ok();
  return Ok();
}

// LRANGE key start stop
Status LRange(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view name = args.Bytes();
  const int64_t start = args.Integer();
  const int64_t stop = args.Integer();
  TRY(args.Done());
  Named<List> list(ctx, name);
  TRY(list.Open());
  const IndexRange range = ResolveRange(start, stop, list.size());
  reply.Array(range.n);
  if (range.n == 0) return Ok();
  return list.ForEach(range.start, range.n, [&reply](const Item& item) { ReplyItem(reply, item); });
}

// Whether a client may watch the key, or wait for it.
bool IsAwaited(CommandContext& ctx, const Key& key) {
  const CommitListener* const listener = ctx.txn().store().listener();
  return listener != nullptr && listener->IsInterested(key.stripe());
}

// LTRIM key start stop
Status LTrim(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view name = args.Bytes();
  const int64_t start = args.Integer();
  const int64_t stop = args.Integer();
  TRY(args.Done());
  Named<List> list(ctx, name);
  TRY(list.Open());
  const IndexRange range = ResolveRange(start, stop, list.size());
  const bool exists = list.exists();
  const uint64_t removed = list.size() - range.n;
  if (removed > 0) TRY(list.Trim(range.start, range.n));
  // As in Redis, EXEC fails also after an LTRIM that removed nothing. So this writes the unchanged row.
  if (removed > 0 || (exists && IsAwaited(ctx, list.key))) TRY(list.Save());
  if (exists) ctx.Shrunk(kListEvent, "ltrim", name, removed, range.n == 0);
  reply.Ok();
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "lpush", .arity = -3, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kInsert)},
     .run = Fixed<Push, ListEnd::kHead, false>, .group = Group::kList, .since = "1.0.0",
     .summary = "Pushes elements to the head of a list.", .complexity = "O(N) with N the number of elements added",
     .syntax = "key element [element ...]"},
    {.name = "rpush", .arity = -3, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kInsert)},
     .run = Fixed<Push, ListEnd::kTail, false>, .group = Group::kList, .since = "1.0.0",
     .summary = "Pushes elements to the tail of a list.", .complexity = "O(N) with N the number of elements added",
     .syntax = "key element [element ...]"},
    {.name = "lpushx", .arity = -3, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kInsert)},
     .run = Fixed<Push, ListEnd::kHead, true>, .group = Group::kList, .since = "2.2.0",
     .summary = "Pushes elements to the head of an existing list.",
     .complexity = "O(N) with N the number of elements added", .syntax = "key element [element ...]"},
    {.name = "rpushx", .arity = -3, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kInsert)},
     .run = Fixed<Push, ListEnd::kTail, true>, .group = Group::kList, .since = "2.2.0",
     .summary = "Pushes elements to the tail of an existing list.",
     .complexity = "O(N) with N the number of elements added", .syntax = "key element [element ...]"},
    {.name = "lpop", .arity = -2, .flags = kWrite | kFast, .keys = {OneKey(kRW | kAccess | kDelete)},
     .run = Fixed<Pop, ListEnd::kHead>, .group = Group::kList, .since = "1.0.0",
     .summary = "Pops elements from the head of a list.", .complexity = "O(N) with N the number of elements taken",
     .syntax = "key [count]"},
    {.name = "rpop", .arity = -2, .flags = kWrite | kFast, .keys = {OneKey(kRW | kAccess | kDelete)},
     .run = Fixed<Pop, ListEnd::kTail>, .group = Group::kList, .since = "1.0.0",
     .summary = "Pops elements from the tail of a list.", .complexity = "O(N) with N the number of elements taken",
     .syntax = "key [count]"},
    {.name = "llen", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO)}, .run = LLen, .group = Group::kList,
     .since = "1.0.0", .summary = "Returns the number of elements in a list.", .complexity = "O(1)", .syntax = "key"},
    {.name = "lindex", .arity = 3, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = LIndex,
     .group = Group::kList, .since = "1.0.0", .summary = "Returns the element at an index of a list.",
     .complexity = "O(N) with N the number of elements from the nearer end to the index", .syntax = "key index"},
    {.name = "lset", .arity = 4, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kUpdate)}, .run = LSet,
     .group = Group::kList, .since = "1.0.0", .summary = "Replaces the element at an index of a list.",
     .complexity = "O(N) with N the number of elements from the nearer end to the index",
     .syntax = "key index element"},
    {.name = "lrange", .arity = 4, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = LRange,
     .group = Group::kList, .since = "1.0.0", .summary = "Returns the elements between two indexes of a list.",
     .complexity = "O(S+N) with S the elements from the nearer end to the start and N the elements returned",
     .syntax = "key start:integer stop:integer"},
    {.name = "ltrim", .arity = 4, .flags = kWrite, .keys = {OneKey(kRW | kDelete)}, .run = LTrim, .group = Group::kList,
     .since = "1.0.0", .summary = "Removes the elements of a list outside a range of indexes.",
     .complexity = "O(N) with N the number of elements removed or kept, whichever is less",
     .syntax = "key start:integer stop:integer"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ListCommands() { return kRows; }

}  // namespace cairn
