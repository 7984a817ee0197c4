// SPDX-License-Identifier: BSD-3-Clause
//
// Bit fields: integers of 1 to 64 bits anywhere in a string, the most significant bit first.
//
//   string   0110 1001 0...
//   u4 at 1   ^^^^ 1101 is 13;  i4 at 1: the same bits with a sign are -3
//
// Bits beyond the end of the string read as zeros. A value or a sum that does not fit into a field overflows: it wraps
// around, saturates at the nearest value that fits, or is refused.
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
  unsigned bits = 0;  // 1 to 64, or to 63 if unsigned
};

// Parses "i16" or "u8". Returns nullopt for anything else.
std::optional<FieldType> ParseFieldType(std::string_view text);

enum class Overflow : uint8_t { kWrap, kSaturate, kFail };

// Returns `value` + `increment` as a field of this type stores it; nullopt if it overflows and `overflow` says to fail.
// An unsigned field takes `value` as an unsigned number.
std::optional<int64_t> FitField(FieldType type, int64_t value, int64_t increment, Overflow overflow);

// Reads the field that begins at bit `offset`.
int64_t ReadField(std::string_view bytes, uint64_t offset, FieldType type);

// Sets the field to the lower bits of `value`. REQUIRES: the field lies within `bytes`.
void WriteField(std::string& bytes, uint64_t offset, FieldType type, int64_t value);

}  // namespace cairn
