// SPDX-License-Identifier: BSD-3-Clause
//
// Lists by value: LPOS, LINSERT and LREM, which search the elements from one end.
#include <cstdint>
#include <optional>

#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/named.h"
#include "resp/reply.h"
#include "types/list.h"

namespace cairn {
namespace {

constexpr std::string_view kZeroRank =
    "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use "
    "negative to start from "
    "the end of the list";
constexpr std::string_view kRankRange =
    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807";

struct PositionOptions {
  ListEnd end = ListEnd::kHead;
  uint64_t rank = 1;              // the first match to return
  std::optional<uint64_t> count;  // 0: all
  uint64_t max_items = UINT64_MAX;
};

void ReadRank(Args& args, PositionOptions& options) {
  const int64_t rank = args.Integer();
  if (rank == INT64_MIN) return args.Fail(kRankRange);
  if (rank == 0) return args.Fail(kZeroRank);
  options.end = rank < 0 ? ListEnd::kTail : ListEnd::kHead;
  options.rank = static_cast<uint64_t>(rank < 0 ? -rank : rank);
}

// [RANK rank] [COUNT num-matches] [MAXLEN len]
Result<PositionOptions> ReadPositionOptions(Args& args) {
  PositionOptions options;
  while (args.More()) {
    const bool has_value = args.left() > 1;
    if (has_value && args.Keyword("RANK")) {
      ReadRank(args, options);
    } else if (has_value && args.Keyword("COUNT")) {
      options.count = static_cast<uint64_t>(args.IntegerIn(0, INT64_MAX, "ERR COUNT can't be negative"));
    } else if (has_value && args.Keyword("MAXLEN")) {
      const int64_t max_items = args.IntegerIn(0, INT64_MAX, "ERR MAXLEN can't be negative");
      options.max_items = max_items == 0 ? UINT64_MAX : static_cast<uint64_t>(max_items);
    } else {
      args.Fail(errors::kSyntax);
    }
  }
  TRY(args.Check());
  return options;
}

// LPOS key element [RANK rank] [COUNT num-matches] [MAXLEN len]
Status LPos(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view name = args.Bytes();
  const std::string_view element = args.Bytes();
  const PositionOptions options = TRY(ReadPositionOptions(args));
  Named<List> list(ctx, name);
  TRY(list.Open());

  const uint64_t wanted = !options.count ? 1 : *options.count == 0 ? UINT64_MAX : *options.count;
  const size_t mark = reply.Later();
  uint64_t matches = 0;
  uint64_t found = 0;
  const auto take = [&](uint64_t distance) {
    if (++matches < options.rank) return true;
    const uint64_t index = options.end == ListEnd::kTail ? list.size() - 1 - distance : distance;
    reply.Integer(static_cast<int64_t>(index));
    return ++found < wanted;
  };
  if (list.exists()) TRY(list.Find(element, options.end, options.max_items, take));
  if (options.count) {
    reply.FinishArray(mark, found);
  } else if (found == 0) {
    reply.Null();
  }
  return Ok();
}

// LINSERT key BEFORE|AFTER pivot element
Status LInsert(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view name = args.Bytes();
  const bool before = args.Keyword("BEFORE");
  if (!before && !args.Keyword("AFTER")) args.Fail(errors::kSyntax);
  const std::string_view pivot = args.Bytes();
  const std::string_view element = args.Bytes();
  TRY(args.Done());
  Named<List> list(ctx, name);
  TRY(list.Open());
  if (!list.exists()) {
    reply.Integer(0);
    return Ok();
  }
  if (!TRY(list.Insert(pivot, before, element))) {
    reply.Integer(-1);
    return Ok();
  }
  TRY(list.Save());
  ctx.Changed(kListEvent, "linsert", name);
  reply.Integer(static_cast<int64_t>(list.size()));
  return Ok();
}

// LREM key count element
Status LRem(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view name = args.Bytes();
  const int64_t count = args.Integer();
  const std::string_view element = args.Bytes();
  TRY(args.Done());
  Named<List> list(ctx, name);
  TRY(list.Open());
  uint64_t removed = 0;
  if (list.exists()) {
    const uint64_t magnitude = count < 0 ? -static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
    const uint64_t limit = count == 0 ? UINT64_MAX : magnitude;
    removed = TRY(list.Remove(element, count < 0 ? ListEnd::kTail : ListEnd::kHead, limit));
    if (removed > 0) {
      const bool is_empty = list.size() == 0;
      TRY(list.Save());
      ctx.Shrunk(kListEvent, "lrem", name, removed, is_empty);
    }
  }
  reply.Integer(static_cast<int64_t>(removed));
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "lpos", .arity = -3, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = LPos,
     .group = Group::kList, .since = "6.0.6", .summary = "Returns the index of an element of a list.",
     .complexity = "O(N) with N the number of elements looked at",
     .syntax = "key element [RANK rank] [COUNT num-matches] [MAXLEN len]"},
    {.name = "linsert", .arity = 5, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kInsert)}, .run = LInsert,
     .group = Group::kList, .since = "2.2.0", .summary = "Inserts an element before or after another one in a list.",
     .complexity = "O(N) with N the number of elements from the head to the other one",
     .syntax = "key <BEFORE | AFTER> pivot element"},
    {.name = "lrem", .arity = 4, .flags = kWrite, .keys = {OneKey(kRW | kDelete)}, .run = LRem, .group = Group::kList,
     .since = "1.0.0", .summary = "Removes the elements equal to a value from a list.",
     .complexity = "O(N+M) with N the length of the list and M the number of elements removed",
     .syntax = "key count element"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ListSearchCommands() { return kRows; }

}  // namespace cairn
