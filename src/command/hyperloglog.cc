// SPDX-License-Identifier: BSD-3-Clause
//
// HyperLogLogs: PFADD, PFCOUNT, PFMERGE, and PFDEBUG and PFSELFTEST for inspection.
#include "types/hyperloglog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "storage/store.h"
#include "types/string.h"

namespace cairn {
namespace {

using Change = HyperLogLog::Change;

constexpr std::string_view kNotOne = "WRONGTYPE Key is not a valid HyperLogLog string value.";
constexpr std::string_view kCorrupt = "INVALIDOBJ Corrupted HLL object detected";

// A key and its HyperLogLog.
struct Found {
  Key key;
  KeyEntry entry;
  std::optional<HyperLogLog> value;  // none: the key is missing
};

Result<Found> Find(Keyspace& keys, std::string_view name) {
  Found found{.key = keys.Name(name)};
  found.entry = TRY(keys.FindTyped(found.key, Type::kString));
  if (!found.entry.exists()) return found;
  // A longer string is none, and may be too large to read.
  const StringText front = TRY(ReadPart(keys, found.key, found.entry, 0, HyperLogLog::kMostBytes));
  found.value = HyperLogLog::Parse(front.view());
  if (!found.value) return Status::Reply(kNotOne);
  if (TRY(TextSize(found.entry)) > HyperLogLog::kMostBytes) return Status::Reply(kCorrupt);
  return found;
}

Status Write(Keyspace& keys, const Found& found, const HyperLogLog& value) {
  return WriteBytes(keys, found.key, found.entry, value.bytes(), found.entry.expire_ms(), Origin::kEdited);
}

uint64_t SparseMax(CommandContext& ctx) {
  return static_cast<uint64_t>(ctx.limits().hll_sparse_max_bytes.load(std::memory_order_relaxed));
}

// Charges the walk over the runs of a sparse value that Add is about to make: half of its bytes, and a byte is read
// faster than an element of a packed collection.
Status SpendOnRuns(CommandContext& ctx, const HyperLogLog& value) {
  constexpr size_t kBytesPerElement = 4;
  return value.IsDense() ? Ok() : ctx.txn().command().SpendOnPacked(value.bytes().size() / kBytesPerElement);
}

// Charges the merge of a value's registers: those of a dense one take as long as 32 rows.
Status SpendOnMerge(Keyspace& keys, const HyperLogLog& value) {
  constexpr size_t kBytesPerStep = 384;
  return keys.txn().command().Spend(value.bytes().size() / kBytesPerStep);
}

// PFADD key [element ...]
Status PfAdd(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Found found = TRY(Find(keys, args.Bytes()));
  HyperLogLog value = found.value.value_or(HyperLogLog());
  uint64_t changes = found.value ? 0 : 1;
  while (args.More()) {
    TRY(SpendOnRuns(ctx, value));
    const Change change = value.Add(args.Bytes(), SparseMax(ctx));
    if (change == Change::kCorrupt) return Status::Reply(kCorrupt);
    changes += change == Change::kRaised;
  }
  if (changes > 0) {
    value.DropCachedCount();
    TRY(Write(keys, found, value));
    ctx.Changed(kStringEvent, "pfadd", found.key.bytes(), changes);
  }
  reply.Integer(changes > 0);
  return Ok();
}

// Merges the HyperLogLogs of the remaining arguments; missing keys are skipped. Returns true if one of them was dense.
Result<bool> MergeRest(Keyspace& keys, Args& args, HllRegisters& registers) {
  bool dense = false;
  while (args.More()) {
    const Found found = TRY(Find(keys, args.Bytes()));
    if (!found.value) continue;
    TRY(SpendOnMerge(keys, *found.value));
    dense |= found.value->IsDense();
    if (!found.value->MergeInto(registers)) return Status::Reply(kCorrupt);
  }
  return dense;
}

// Replies with the count of one value and caches it in the value.
Status CountOne(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  Found found = TRY(Find(keys, args.Bytes()));
  if (!found.value) {
    reply.Integer(0);
    return Ok();
  }
  std::optional<uint64_t> count = found.value->CachedCount();
  if (!count) {
    TRY(SpendOnMerge(keys, *found.value));
    count = found.value->Count();
    if (!count) return Status::Reply(kCorrupt);
    found.value->CacheCount(*count);
    const bool may_write = !ctx.session().socket.read_only && ctx.txn().store().recovery().writable();
    if (may_write) {
      TRY(Write(keys, found, *found.value));
      ctx.CountChanges(1);
    }
  }
  reply.Integer(static_cast<int64_t>(*count));
  return Ok();
}

// PFCOUNT key [key ...]
Status PfCount(CommandContext& ctx, Args& args, Reply& reply) {
  if (args.left() == 1) return CountOne(ctx, args, reply);
  Keyspace keys = ctx.keys();
  HllRegisters registers{};
  TRY(MergeRest(keys, args, registers));
  reply.Integer(static_cast<int64_t>(EstimateCount(registers)));
  return Ok();
}

// PFMERGE destkey [sourcekey ...]
Status PfMerge(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  HllRegisters registers{};
  const std::string_view target = args.Peek();
  keys.EmitMisses(true);
  const bool dense = TRY(MergeRest(keys, args, registers));
  keys.EmitMisses(false);
  const Found found = TRY(Find(keys, target));
  HyperLogLog value = found.value.value_or(HyperLogLog());
  if (dense && !value.MakeDense()) return Status::Reply(kCorrupt);
  for (size_t i = 0; i < registers.size(); ++i) {
    if (registers[i] == 0) continue;
    if (value.Raise(i, registers[i], SparseMax(ctx)) == Change::kCorrupt) {
      return Status::Reply(kCorrupt);
    }
  }
  value.DropCachedCount();
  TRY(Write(keys, found, value));
  ctx.Changed(kStringEvent, "pfadd", target);
  reply.Ok();
  return Ok();
}

Status ReplyRegisters(const HyperLogLog& value, Reply& reply) {
  HllRegisters registers{};
  if (!value.MergeInto(registers)) return Status::Reply(kCorrupt);
  reply.Array(registers.size());
  for (const uint8_t one : registers) reply.Integer(one);
  return Ok();
}

// PFDEBUG GETREG | DECODE | ENCODING | TODENSE key; PFDEBUG SIMD <ON | OFF>
Status PfDebug(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view subcommand = args.Bytes();
  if (EqualsIgnoreCase(subcommand, "simd")) {
    // Redis 8 selects the code that merges registers. There is only one here.
    if (!args.Keyword("on") && !args.Keyword("off")) return Status::Reply("ERR Argument must be ON or OFF");
    reply.Simple("disabled");
    return Ok();
  }
  Keyspace keys = ctx.keys();
  Found found = TRY(Find(keys, args.Bytes()));
  if (!found.value) return Status::Reply("ERR The specified key does not exist");
  HyperLogLog& value = *found.value;
  const bool was_dense = value.IsDense();
  const bool registers = EqualsIgnoreCase(subcommand, "getreg");
  if (registers || EqualsIgnoreCase(subcommand, "todense")) {
    if (!value.MakeDense()) return Status::Reply(kCorrupt);
    if (!was_dense) {
      TRY(Write(keys, found, value));
      ctx.CountChanges(1);
    }
    if (registers) return ReplyRegisters(value, reply);
    reply.Integer(!was_dense);
  } else if (EqualsIgnoreCase(subcommand, "decode")) {
    if (was_dense) return Status::Reply("ERR HLL encoding is not sparse");
    reply.Bulk(value.DescribeRuns());
  } else if (EqualsIgnoreCase(subcommand, "encoding")) {
    reply.Simple(was_dense ? "dense" : "sparse");
  } else {
    return Status::Reply(fmt::format("ERR Unknown PFDEBUG subcommand '{}'", errors::Shown(subcommand)));
  }
  return Ok();
}

// Checks that a register keeps its value and that a write does not change other registers.
Status CheckRegisters(Random& random) {
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    HyperLogLog value;
    if (!value.MakeDense()) return Status::Reply(kCorrupt);
    HllRegisters expected{};
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] = static_cast<uint8_t>(random.Below(64));
      (void)value.Raise(i, expected[i], 0);
    }
    HllRegisters kept{};
    if (!value.MergeInto(kept)) return Status::Reply(kCorrupt);
    const auto wrong = std::mismatch(expected.begin(), expected.end(), kept.begin());
    if (wrong.first == expected.end()) continue;
    return Status::Reply(fmt::format("ERR TESTFAILED Register {} should be {} but is {}",
                                     wrong.first - expected.begin(), *wrong.first, *wrong.second));
  }
  return Ok();
}

// Checks that both encodings give the same estimate for `count` elements, within the error bound.
Status CheckEstimates(const HyperLogLog& dense, const HyperLogLog& other, uint64_t count, uint64_t sparse_max) {
  if (count < sparse_max / 2 && other.IsDense()) {
    return Status::Reply("ERR TESTFAILED sparse encoding not used");
  }
  const std::optional<uint64_t> estimate = dense.Count();
  if (!estimate || estimate != other.Count()) {
    return Status::Reply("ERR TESTFAILED dense/sparse disagree");
  }
  const double standard_error = 1.04 / std::sqrt(static_cast<double>(kHllRegisters));
  const double bound = std::ceil(standard_error * 6 * static_cast<double>(count));
  const uint64_t error = std::max(*estimate, count) - std::min(*estimate, count);
  if (static_cast<double>(error) <= bound) return Ok();
  return Status::Reply(fmt::format("ERR TESTFAILED Too big error. card:{} abserr:{}", count, error));
}

// PFSELFTEST
Status PfSelfTest(CommandContext& ctx, Args& args, Reply& reply) {
  TRY(args.Done());
  TRY(CheckRegisters(ctx.random()));
  constexpr uint64_t kElements = 10'000'000;
  const uint64_t sparse_max = SparseMax(ctx);
  HyperLogLog dense;
  HyperLogLog other;
  if (!dense.MakeDense()) return Status::Reply(kCorrupt);
  const uint64_t seed = ctx.random().Next();
  uint64_t checkpoint = 1;
  for (uint64_t i = 1; i <= kElements; ++i) {
    const uint64_t element = i ^ seed;
    const std::string_view bytes(reinterpret_cast<const char*>(&element), sizeof element);
    (void)dense.Add(bytes, sparse_max);
    (void)other.Add(bytes, sparse_max);
    if (i != checkpoint) continue;
    TRY(CheckEstimates(dense, other, i, sparse_max));
    checkpoint *= 10;
  }
  reply.Ok();
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "pfadd", .arity = -2, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kInsert)}, .run = PfAdd,
     .group = Group::kHyperloglog, .since = "2.8.9",
     .summary = "Adds elements to a HyperLogLog and returns whether it changed.", .complexity = "O(1) per element",
     .syntax = "key [element [element ...]]"},
    {.name = "pfcount", .arity = -2, .flags = kReadonly | kKeepsAnswer | kMayReplicate,
     .keys = {{.flags = kRW | kAccess,
               .begin = 1,
               .last = -1,
               .notes = "RW because it may change the internal representation of the key, and "
                        "propagate to replicas"}},
     .run = PfCount, .group = Group::kHyperloglog, .since = "2.8.9",
     .summary = "Estimates the number of distinct elements in HyperLogLogs.",
     .complexity = "O(1) for one key, whose count is remembered; O(N) for N of them",
     .syntax = "key [key ...]"},
    {.name = "pfmerge", .arity = -2, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kRW | kAccess | kInsert), KeysToEnd(kRO | kAccess, 2)}, .run = PfMerge,
     .group = Group::kHyperloglog, .since = "2.8.9", .summary = "Merges HyperLogLogs into one.",
     .complexity = "O(N) with N the number of keys", .syntax = "destkey [sourcekey [sourcekey ...]]"},
    {.name = "pfdebug", .arity = 3, .flags = kWrite | kDenyOom | kAdmin, .keys = {OneKey(kRW | kAccess, 2)},
     .run = PfDebug, .group = Group::kHyperloglog, .since = "2.8.9",
     .summary = "Shows the registers or the encoding of a HyperLogLog.", .complexity = "O(1)",
     .syntax = "subcommand key"},
    {.name = "pfselftest", .arity = 1, .flags = kAdmin | kSlowLane, .run = PfSelfTest, .group = Group::kHyperloglog,
     .since = "2.8.9", .summary = "Tests the registers and the estimate of HyperLogLogs.",
     .complexity = "O(1), seconds", .syntax = ""},
};
// clang-format on

}  // namespace

std::span<const CommandRow> HyperLogLogCommands() { return kRows; }

}  // namespace cairn
