// SPDX-License-Identifier: BSD-3-Clause
#include "command/value_condition.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/words.h"
#include "types/string.h"

namespace cairn {
namespace {

using Kind = ValueCondition::Kind;

constexpr size_t kDigestDigits = 16;

struct Word {
  std::string_view word;
  Kind kind;
};
constexpr Word kWords[] = {
    {"ifeq", Kind::kEqual},
    {"ifne", Kind::kNotEqual},
    {"ifdeq", Kind::kDigestEqual},
    {"ifdne", Kind::kDigestNotEqual},
};

// Whether the string is `text`. Reads only a string of the same size, because a fragmented one may be large.
Result<bool> IsText(std::string_view text, Keyspace& keys, const Key& key, const KeyEntry& entry) {
  if (TRY(TextSize(entry)) != text.size()) return false;
  return TRY(ReadText(keys, key, entry)).view() == text;
}

}  // namespace

bool ReadValueCondition(Args& args, ValueCondition& condition) {
  if (args.left() < 2) return false;
  for (const Word& known : kWords) {
    if (!args.Keyword(known.word)) continue;
    condition = {known.kind, args.Bytes()};
    return true;
  }
  return false;
}

Status CheckValueCondition(const ValueCondition& condition) {
  const bool is_digest = condition.kind == Kind::kDigestEqual || condition.kind == Kind::kDigestNotEqual;
  if (!is_digest || condition.operand.size() == kDigestDigits) return Ok();
  return Status::Reply(fmt::format("ERR must be exactly {} hexadecimal characters", kDigestDigits));
}

Result<std::string> DigestOf(Keyspace& keys, const Key& key, const KeyEntry& entry) {
  // A fragmented string is not read as a whole: it may be large although no client sent that many bytes.
  constexpr uint64_t kPieceBytes = 1 << 20;
  const uint64_t size = TRY(TextSize(entry));
  TRY(SpendOnText(keys, entry, size));
  Hash64Stream hash;
  for (uint64_t at = 0; at < size; at += kPieceBytes) {
    hash.Add(TRY(ReadPart(keys, key, entry, at, kPieceBytes)).view());
  }
  return fmt::format("{:016x}", hash.Value());
}

Result<bool> Holds(const ValueCondition& condition, Keyspace& keys, const Key& key, const KeyEntry& entry) {
  if (!entry.exists()) return condition.holds_without_key();
  switch (condition.kind) {
    case Kind::kEqual: return IsText(condition.operand, keys, key, entry);
    case Kind::kNotEqual: return !TRY(IsText(condition.operand, keys, key, entry));
    case Kind::kDigestEqual: return EqualsIgnoreCase(TRY(DigestOf(keys, key, entry)), condition.operand);
    default: return !EqualsIgnoreCase(TRY(DigestOf(keys, key, entry)), condition.operand);
  }
}

}  // namespace cairn
