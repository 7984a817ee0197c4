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

std::string DigestText(std::string_view value) { return fmt::format("{:016x}", Hash64(value)); }

Result<bool> Holds(const ValueCondition& condition, Keyspace& keys, const Key& key, const KeyEntry& entry) {
  if (!entry.exists()) return condition.holds_without_key();
  const StringText text = TRY(ReadText(keys, key, entry));
  switch (condition.kind) {
    case Kind::kEqual: return text.view() == condition.operand;
    case Kind::kNotEqual: return text.view() != condition.operand;
    case Kind::kDigestEqual: return EqualsIgnoreCase(DigestText(text.view()), condition.operand);
    default: return !EqualsIgnoreCase(DigestText(text.view()), condition.operand);
  }
}

}  // namespace cairn
