// SPDX-License-Identifier: BSD-3-Clause
//
// Bit fields: integers of 1 to 64 bits anywhere in a string, the most significant bit first.
//
//   string   0110 1001 0...
//   u4 at 1   ^^^^ 1101 is 13;  i4 at 1: the same bits with a sign are -3
//
// A string counts as followed by zeros. A sum or a value that a field cannot hold overflows: it
// wraps around, stops at the nearest value that fits, or is refused.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cairn {

struct FieldType {
  bool is_signed = false;
  unsigned bits = 0;  // 1 to 64, 63 without a sign
};

// "i16", "u8"; none for anything else.
std::optional<FieldType> ParseFieldType(std::string_view text);

enum class Overflow : uint8_t { kWrap, kSaturate, kFail };

// `value` + `increment` as a field of that type holds it; none when it overflows and is to fail. A
// field without a sign takes `value` for an unsigned number.
std::optional<int64_t> FitField(FieldType type, int64_t value, int64_t increment, Overflow overflow);

// The field that begins with bit `offset`.
int64_t ReadField(std::string_view bytes, uint64_t offset, FieldType type);

// Sets it to the lower bits of `value`. REQUIRES: bytes reach as far as the field.
void WriteField(std::string& bytes, uint64_t offset, FieldType type, int64_t value);

}  // namespace cairn
