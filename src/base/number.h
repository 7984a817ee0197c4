// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers as Redis reads and writes them. The readers are strict: no spaces, no plus sign, no leading zeros. So the
// text of an integer can be restored from its value, and a value can be stored instead of its digits.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cairn {

// The int64 whose canonical decimal form is `text`; none for other text.
std::optional<int64_t> ParseInt64(std::string_view text);

// The same for uint64.
std::optional<uint64_t> ParseUint64(std::string_view text);

// A floating point text of this size or more is refused, as in Redis.
inline constexpr size_t kMaxNumberText = 5 * 1024;

// A double in the syntax of C's strtod; `text` must contain nothing else. NaN is refused; "inf" in any case is a value.
std::optional<double> ParseDouble(std::string_view text);

// A long double, for INCRBYFLOAT and HINCRBYFLOAT; NaN and any other text are refused.
std::optional<long double> ParseLongDouble(std::string_view text);

// Appends the decimal digits of `value`. At most 20 bytes.
void AppendInt64(std::string& out, int64_t value);
void AppendUint64(std::string& out, uint64_t value);

// How replies show doubles: with the shortest digits that read back as the same number, as Redis 7.2, or with 17
// significant digits, as Redis 7.0 (docs/decisions/double-format.md).
enum class DoubleFormat : unsigned char { kShortest, k17Digits };

// Sets the format for the process; at first it is kShortest. Thread: any.
void SetDoubleFormat(DoubleFormat format);
// "inf", "-inf", "nan", or the number in that format.
std::string FormatDouble(double value);
// The same in a format that does not depend on the process's.
std::string FormatDouble(double value, DoubleFormat format);

// INCRBYFLOAT's notation: at most 17 decimals, no exponent, no trailing zeros.
std::string FormatLongDouble(long double value);

// Bytes with an optional unit (b, k, kb, m, mb, g, gb; the kb form counts by 1024), as in redis.conf.
std::optional<uint64_t> ParseMemory(std::string_view text);

}  // namespace cairn
