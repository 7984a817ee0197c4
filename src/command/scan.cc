// SPDX-License-Identifier: BSD-3-Clause
//
// SCAN and KEYS: the names of a database's keys.
//
// Keys are stored in the order of a position that depends on the name only (encoding/row_key.h), and SCAN's cursor is
// the next position. So a cursor needs no memory in the server and stays valid across a restart. A key that exists
// during the whole scan is returned exactly once, whatever else changes.
#include "base/glob.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/scan_options.h"

namespace cairn {
namespace {

// SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]
Status Scan(CommandContext& ctx, Args& args, Reply& reply) {
  const uint64_t cursor = TRY(ParseScanCursor(args));
  const ScanOptions options = TRY(ParseScanOptions(args, ScanOf::kKeys));
  std::string names;
  Reply found(names, reply);
  size_t shown = 0;
  uint64_t looked_at = 0;
  const auto visit = [&](std::string_view key, const Record& record) {
    const bool wanted = (!options.has_type || record.header.type == options.type) && options.Matches(key);
    if (wanted) {
      found.Bulk(key);
      ++shown;
    }
    return ++looked_at < options.count;
  };
  // No key is stored beyond the last position, whatever cursor the client sends.
  const bool beyond = (cursor >> kPositionBits) != 0;
  const uint64_t next = beyond ? 0 : TRY(ctx.keys().Scan(cursor, visit));
  ReplyScanCursor(reply, next);
  reply.Array(shown);
  reply.Append(found);
  return Ok();
}

// KEYS pattern
Status Keys(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view pattern = args.Bytes();
  const bool all = pattern == "*";
  const size_t mark = reply.Later();
  size_t shown = 0;
  const auto visit = [&](std::string_view key, const Record&) {
    if (all || GlobMatches(pattern, key)) {
      reply.Bulk(key);
      ++shown;
    }
    return true;
  };
  TRY(ctx.keys().Scan(0, visit));
  reply.FinishArray(mark, shown);
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "scan",
     .arity = -2,
     .flags = kReadonly | kSlowLane,  // the iterator may have to sort a memtable
     .run = Scan,
     .since = "2.8.0",
     .summary = "Returns some keys of the selected database and the next cursor.",
     .complexity = "O(N) with N the count asked for",
     .syntax = "cursor [MATCH pattern] [COUNT count] [TYPE type]",
     .tips = "nondeterministic_output request_policy:special response_policy:special"},
    {.name = "keys",
     .arity = 2,
     .flags = kReadonly | kSlowLane,  // the iterator may have to sort a memtable
     .run = Keys,
     .since = "1.0.0",
     .summary = "Returns the keys of the selected database that match a pattern.",
     .complexity = "O(N) with N the number of keys in the database",
     .syntax = "pattern",
     .acl = "dangerous",
     .tips = "request_policy:all_shards nondeterministic_output_order"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ScanCommands() { return kRows; }

}  // namespace cairn
