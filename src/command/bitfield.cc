// SPDX-License-Identifier: BSD-3-Clause
//
// BITFIELD and BITFIELD_RO: a string as an array of integers of any width.
#include "types/bitfield.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "types/edited_string.h"
#include "types/string.h"

namespace cairn {
namespace {

constexpr std::string_view kBadType =
    "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 "
    "is.";
constexpr std::string_view kBadOffset = "ERR bit offset is not an integer or out of range";
constexpr std::string_view kBadOverflow = "ERR Invalid OVERFLOW type specified";
constexpr std::string_view kOnlyGet = "ERR BITFIELD_RO only supports the GET subcommand";

enum class Action : uint8_t { kGet, kSet, kIncrement };

struct Step {
  Action action = Action::kGet;
  FieldType type;
  uint64_t offset = 0;
  int64_t value = 0;  // or increment
  Overflow overflow = Overflow::kWrap;
};

// A bit offset, or "#n": the offset of the n-th field of this type.
uint64_t ReadOffset(CommandContext& ctx, Args& args, FieldType type) {
  std::string_view text = args.Bytes();
  const bool by_fields = text.starts_with('#');
  if (by_fields) text.remove_prefix(1);
  const auto number = ParseInt64(text);
  const int64_t limit = ctx.limits().proto_max_bulk_len.load(std::memory_order_relaxed);
  int64_t offset = 0;
  const int64_t width = by_fields ? type.bits : 1;
  if (!number || __builtin_mul_overflow(*number, width, &offset) || offset < 0 || offset >> 3 >= limit) {
    args.Fail(kBadOffset);
    return 0;
  }
  return static_cast<uint64_t>(offset);
}

Overflow ReadOverflow(Args& args) {
  if (args.Keyword("wrap")) return Overflow::kWrap;
  if (args.Keyword("sat")) return Overflow::kSaturate;
  if (!args.Keyword("fail")) args.Fail(kBadOverflow);
  return Overflow::kFail;
}

Step ReadStep(CommandContext& ctx, Args& args, Action action, Overflow overflow) {
  Step step{.action = action, .overflow = overflow};
  if (const auto type = ParseFieldType(args.Bytes())) {
    step.type = *type;
  } else {
    args.Fail(kBadType);
  }
  step.offset = ReadOffset(ctx, args, step.type);
  if (action != Action::kGet) step.value = args.Integer();
  return step;
}

// [GET type offset | [OVERFLOW ...] SET type offset value | INCRBY type offset increment] ...
std::vector<Step> ReadSteps(CommandContext& ctx, Args& args) {
  std::vector<Step> steps;
  Overflow overflow = Overflow::kWrap;
  while (args.More()) {
    if (args.left() > 2 && args.Keyword("get")) {
      steps.push_back(ReadStep(ctx, args, Action::kGet, overflow));
    } else if (args.left() > 3 && args.Keyword("set")) {
      steps.push_back(ReadStep(ctx, args, Action::kSet, overflow));
    } else if (args.left() > 3 && args.Keyword("incrby")) {
      steps.push_back(ReadStep(ctx, args, Action::kIncrement, overflow));
    } else if (args.left() > 1 && args.Keyword("overflow")) {
      overflow = ReadOverflow(args);
    } else {
      args.Fail(errors::kSyntax);
    }
  }
  return steps;
}

// The number of bytes the string must have for all writes; 0 if nothing is written.
size_t BytesWritten(const std::vector<Step>& steps) {
  uint64_t bytes = 0;
  for (const Step& step : steps) {
    if (step.action == Action::kGet) continue;
    bytes = std::max(bytes, (step.offset + step.type.bits + 7) >> 3);
  }
  return bytes;
}

// The bytes that a field touches, and its first bit within them.
struct FieldPlace {
  explicit FieldPlace(const Step& step)
      : first(step.offset >> 3), bit(step.offset & 7), size((bit + step.type.bits + 7) >> 3) {}
  uint64_t first;
  uint64_t bit;
  uint64_t size;
};

// Returns true if the field changed. REQUIRES: the field lies within the text.
Result<bool> WriteStep(EditedString& text, const Step& step, Reply& reply) {
  const FieldPlace place(step);
  std::string bytes = TRY(text.Read(place.first, place.size));
  const int64_t old = ReadField(bytes, place.bit, step.type);
  const bool adds = step.action == Action::kIncrement;
  const auto fit = FitField(step.type, adds ? old : step.value, adds ? step.value : 0, step.overflow);
  if (!fit) {
    reply.Null();
    return false;
  }
  reply.Integer(adds ? *fit : old);
  if (*fit == old) return false;
  WriteField(bytes, place.bit, step.type, *fit);
  TRY(text.Write(place.first, bytes));
  return true;
}

Status ReplyFields(Keyspace& keys, const Key& key, const KeyEntry& entry, const std::vector<Step>& steps,
                   Reply& reply) {
  reply.Array(steps.size());
  for (const Step& step : steps) {
    const FieldPlace place(step);
    const StringText bytes = TRY(ReadPart(keys, key, entry, place.first, place.size));
    reply.Integer(ReadField(bytes.view(), place.bit, step.type));
  }
  return Ok();
}

// BITFIELD key [GET type offset | [OVERFLOW WRAP | SAT | FAIL] SET type offset value | ...]
Status Bitfield(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const std::vector<Step> steps = ReadSteps(ctx, args);
  TRY(args.Done());
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  const size_t needed = BytesWritten(steps);
  if (needed == 0) return ReplyFields(keys, key, entry, steps, reply);

  EditedString text = TRY(EditedString::Open(keys, key, entry));
  const bool grows = text.size() < needed;
  if (grows) TRY(text.Grow(needed));
  uint64_t changes = 0;
  reply.Array(steps.size());
  for (const Step& step : steps) {
    if (step.action == Action::kGet) {
      const FieldPlace place(step);
      reply.Integer(ReadField(TRY(text.Read(place.first, place.size)), place.bit, step.type));
    } else {
      changes += TRY(WriteStep(text, step, reply)) || grows;
    }
  }
  if (changes == 0) return Ok();
  TRY(text.Save());
  ctx.Changed(kStringEvent, "setbit", key.bytes(), changes);
  return Ok();
}

// BITFIELD_RO key [GET type offset ...]
Status BitfieldRo(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const std::vector<Step> steps = ReadSteps(ctx, args);
  TRY(args.Done());
  if (BytesWritten(steps) > 0) return Status::Reply(kOnlyGet);
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  return ReplyFields(keys, key, entry, steps, reply);
}

// A call with only GETs does not change its key.
uint16_t KeyFlagsOfBitfield(std::span<const std::string_view> argv) {
  for (size_t i = 2; i < argv.size();) {
    const size_t behind = argv.size() - i - 1;
    if (EqualsIgnoreCase(argv[i], "get") && behind >= 2) {
      i += 3;
    } else if (EqualsIgnoreCase(argv[i], "overflow") && behind >= 1) {
      i += 2;
    } else {
      return kRW | kAccess | kUpdate;
    }
  }
  return kRO | kAccess;
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "bitfield", .arity = -2, .flags = kWrite | kDenyOom,
     .keys = {{.flags = kRW | kAccess | kUpdate | kVariableFlags,
               .begin = 1,
               .notes = "This command allows both access and modification of the key"}},
     .run = Bitfield, .group = Group::kBitmap, .since = "3.2.0",
     .summary = "Reads, sets and increments integers of any width within a string.",
     .complexity = "O(1) per integer",
     .syntax = "key [<GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] "
               "<SET encoding offset value | INCRBY encoding offset increment>> [...]]",
     .key_flags = KeyFlagsOfBitfield},
    {.name = "bitfield_ro", .arity = -2, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = BitfieldRo,
     .group = Group::kBitmap, .since = "6.0.0", .summary = "Reads integers of any width within a string.",
     .complexity = "O(1) per integer", .syntax = "key [GET encoding offset [GET encoding offset ...]]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> BitfieldCommands() { return kRows; }

}  // namespace cairn
