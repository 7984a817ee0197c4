// SPDX-License-Identifier: BSD-3-Clause
#include "base/number.h"

#include <atomic>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace cairn {
namespace {

template <typename T>
std::optional<T> ParseCanonical(std::string_view text) {
  if (text.empty() || text.size() > 20) return std::nullopt;
  const size_t first_digit = text[0] == '-' ? 1 : 0;
  if (first_digit == text.size()) return std::nullopt;
  if (text[first_digit] == '0' && text.size() > 1) return std::nullopt;  // "007" and "-0" are strings
  T value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <typename T, typename Parser>
std::optional<T> ParseFloating(std::string_view text, Parser parse) {
  if (text.empty() || text.size() >= kMaxNumberText || std::isspace(static_cast<unsigned char>(text[0]))) {
    return std::nullopt;
  }
  const std::string copy(text);
  char* end = nullptr;
  errno = 0;
  const T value = parse(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size() || std::isnan(value)) return std::nullopt;
  if (errno == ERANGE &&
      (value == std::numeric_limits<T>::infinity() || value == -std::numeric_limits<T>::infinity() || value == 0)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::optional<int64_t> ParseInt64(std::string_view text) { return ParseCanonical<int64_t>(text); }

std::optional<uint64_t> ParseUint64(std::string_view text) { return ParseCanonical<uint64_t>(text); }

std::optional<double> ParseDouble(std::string_view text) {
  return ParseFloating<double>(text, [](const char* s, char** end) { return std::strtod(s, end); });
}

std::optional<long double> ParseLongDouble(std::string_view text) {
  return ParseFloating<long double>(text, [](const char* s, char** end) { return std::strtold(s, end); });
}

void AppendInt64(std::string& out, int64_t value) {
  char buffer[24];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  out.append(buffer, result.ptr);
}

void AppendUint64(std::string& out, uint64_t value) {
  char buffer[24];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  out.append(buffer, result.ptr);
}

namespace {

std::atomic<DoubleFormat>& ProcessFormat() {
  static std::atomic<DoubleFormat> format{DoubleFormat::kShortest};
  return format;
}

// The shortest digits that read back as the same double, laid out as by Redis 7.2: without an exponent if at most six
// zeros must be added, or at most six digits follow the point, or the number is between 1e-4 and 1e4.
std::string FormatShortest(double value) {
  char buffer[40] = {};
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value), std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  std::string digits(text.substr(0, 1));
  if (e > 2) digits.append(text.substr(2, e - 2));
  const int power = std::atoi(text.data() + e + 1);  // of the first digit
  const int count = static_cast<int>(digits.size());
  const int last = power - count + 1;  // of the last digit
  std::string out = value < 0 ? "-" : "";
  if (last >= 0 && power < count + 7) return out.append(digits).append(static_cast<size_t>(last), '0');
  if (last < 0 && (last > -7 || std::abs(power) < 4)) {
    if (power < 0) return out.append("0.").append(static_cast<size_t>(-power - 1), '0').append(digits);
    return out.append(digits, 0, static_cast<size_t>(power) + 1).append(".").append(digits, power + 1);
  }
  out.append(digits, 0, 1);
  if (count > 1) out.append(".").append(digits, 1);
  out.append(power < 0 ? "e-" : "e+");
  AppendInt64(out, std::abs(power));
  return out;
}

}  // namespace

void SetDoubleFormat(DoubleFormat format) { ProcessFormat() = format; }

std::string FormatDouble(double value) { return FormatDouble(value, ProcessFormat().load(std::memory_order_relaxed)); }

std::string FormatDouble(double value, DoubleFormat format) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (std::isnan(value)) return "nan";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  const bool is_shortest = format == DoubleFormat::kShortest;
  // Integers, the most common case.
  if (std::fabs(value) < (is_shortest ? 0x1p62 : 1e15) && value == std::floor(value)) {
    std::string out;
    AppendInt64(out, static_cast<int64_t>(value));
    return out;
  }
  if (is_shortest) return FormatShortest(value);
  char buffer[40];
  const int size = std::snprintf(buffer, sizeof buffer, "%.17g", value);
  return std::string(buffer, static_cast<size_t>(size));
}

std::string FormatLongDouble(long double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[5 * 1024];
  int size = std::snprintf(buffer, sizeof buffer, "%.17Lf", value);
  if (std::memchr(buffer, '.', size) != nullptr) {
    while (buffer[size - 1] == '0') --size;
    if (buffer[size - 1] == '.') --size;
  }
  if (size == 2 && buffer[0] == '-' && buffer[1] == '0') return "0";
  return std::string(buffer, size);
}

std::optional<uint64_t> ParseMemory(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits]))) ++digits;
  if (digits == 0 || digits > 19) return std::nullopt;
  std::string unit(text.substr(digits));
  for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  uint64_t factor;
  if (unit.empty() || unit == "b") factor = 1;
  else if (unit == "k") factor = 1000;
  else if (unit == "kb") factor = 1024;
  else if (unit == "m") factor = 1000 * 1000;
  else if (unit == "mb") factor = 1024 * 1024;
  else if (unit == "g") factor = 1000ull * 1000 * 1000;
  else if (unit == "gb") factor = 1024ull * 1024 * 1024;
  else return std::nullopt;
  uint64_t count = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (__builtin_mul_overflow(count, 10, &count)) return std::nullopt;
    if (__builtin_add_overflow(count, text[i] - '0', &count)) return std::nullopt;
  }
  if (__builtin_mul_overflow(count, factor, &count)) return std::nullopt;
  return count;
}

}  // namespace cairn
