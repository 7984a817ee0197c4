// SPDX-License-Identifier: BSD-3-Clause
//
// ValueCondition: the options IFEQ, IFNE, IFDEQ and IFDNE of SET and DELEX, which compare the string under a key with
// a value or with a digest (redis.io/commands/set, redis.io/commands/digest).
//
// Thread: that of the transaction; a condition views the request's bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "command/args.h"
#include "types/keyspace.h"

namespace cairn {

struct ValueCondition {
  enum class Kind : unsigned char { kNone, kEqual, kNotEqual, kDigestEqual, kDigestNotEqual };
  Kind kind = Kind::kNone;
  std::string_view operand;

  bool is_set() const { return kind != Kind::kNone; }
  // Whether a missing key satisfies it.
  bool holds_without_key() const { return kind == Kind::kNotEqual || kind == Kind::kDigestNotEqual; }
};

// Consumes one of the options with its value; false if the next arguments are none.
bool ReadValueCondition(Args& args, ValueCondition& condition);
// The error of a digest that cannot be one.
Status CheckValueCondition(const ValueCondition& condition);
// Whether the string under `key` satisfies the condition. REQUIRES: is_set(); `entry` is a string or missing.
Result<bool> Holds(const ValueCondition& condition, Keyspace& keys, const Key& key, const KeyEntry& entry);

// What DIGEST replies: 16 lower-case hexadecimal digits of the XXH3 hash (64 bits, seed 0). REQUIRES: `entry` is a
// string.
Result<std::string> DigestOf(Keyspace& keys, const Key& key, const KeyEntry& entry);

}  // namespace cairn
