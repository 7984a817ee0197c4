// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers as Redis reads and writes them. The readers are strict: no spaces, no plus sign, no leading
// zeros, so that a text which reads as an integer is exactly the text the integer is written as; that is what
// lets an integer be stored in place of its digits.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cairn {

// The integer `text` is the canonical decimal form of, within int64.
std::optional<int64_t> ParseInt64(std::string_view text);

// The same for the range of uint64.
std::optional<uint64_t> ParseUint64(std::string_view text);

// A double as C's strtod reads it, the whole text and nothing else; no NaN; "inf" in any case is a value.
std::optional<double> ParseDouble(std::string_view text);

// A long double, for INCRBYFLOAT and HINCRBYFLOAT; NaN and text that is not all number are refused.
std::optional<long double> ParseLongDouble(std::string_view text);

// Appends the decimal digits of `value`. At most 20 bytes.
void AppendInt64(std::string& out, int64_t value);
void AppendUint64(std::string& out, uint64_t value);

// 17 significant digits, as Redis 7.0 writes scores (docs/decisions/scores.md); "inf", "-inf", "nan".
std::string FormatDouble(double value);

// INCRBYFLOAT's notation: 17 decimals at most, no exponent, no trailing zeros.
std::string FormatLongDouble(long double value);

// Bytes with an optional unit (b, k, kb, m, mb, g, gb; the kb form counts by 1024), as in redis.conf.
std::optional<uint64_t> ParseMemory(std::string_view text);

}  // namespace cairn
