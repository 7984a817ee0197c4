// SPDX-License-Identifier: BSD-3-Clause
#include "types/json_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "absl/container/flat_hash_map.h"

namespace cairn {
namespace {

constexpr std::string_view kKindNames[] = {"null",   "boolean", "integer", "integer",
                                           "number", "string",  "array",   "object"};

bool EqualNumbers(const JsonValue& a, const JsonValue& b) {
  if (a.kind() != b.kind()) return false;
  if (a.Is(JsonKind::kDouble)) return a.AsDouble() == b.AsDouble();
  return a.Is(JsonKind::kInteger) ? std::get<int64_t>(a.data) == std::get<int64_t>(b.data)
                                  : std::get<uint64_t>(a.data) == std::get<uint64_t>(b.data);
}

Result<bool> EqualObjects(const JsonValue::Object& a, const JsonValue::Object& b, JsonVisit visit) {
  if (a.size() != b.size()) return false;
  absl::flat_hash_map<std::string_view, const JsonValue*> named;
  for (const JsonMember& member : b) {
    TRY(visit(1 + member.name.size() / kJsonBytesPerVisit));
    named.emplace(member.name, &member.value);
  }
  for (const JsonMember& member : a) {
    const auto found = named.find(member.name);
    if (found == named.end() || !TRY(AreEqual(member.value, *found->second, visit))) return false;
  }
  return true;
}

Result<bool> EqualArrays(const JsonValue::Array& a, const JsonValue::Array& b, JsonVisit visit) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!TRY(AreEqual(a[i], b[i], visit))) return false;
  }
  return true;
}

// Appends the shortest digits that read back as this double, as RedisJSON does: with ".0" if they have no fraction, and
// with an exponent only below 1e-5 and from 1e16 on.
void AppendDouble(double value, std::string& out) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value), std::chars_format::scientific);
  std::string_view digits(buffer, static_cast<size_t>(result.ptr - buffer));
  const size_t e = digits.find('e');
  int exponent = 0;
  const char* first = digits.data() + e + (digits[e + 1] == '+' ? 2 : 1);
  std::from_chars(first, result.ptr, exponent);
  std::string mantissa(digits.substr(0, e));
  std::erase(mantissa, '.');
  const int count = static_cast<int>(mantissa.size());
  if (std::signbit(value)) out += '-';
  if (exponent < -5 || exponent >= 16) {
    out += mantissa[0];
    if (count > 1) out.append(".").append(mantissa, 1);
    out.append("e").append(std::to_string(exponent));
  } else if (exponent < 0) {
    out.append("0.").append(static_cast<size_t>(-exponent - 1), '0').append(mantissa);
  } else if (count <= exponent + 1) {
    out.append(mantissa).append(static_cast<size_t>(exponent + 1 - count), '0').append(".0");
  } else {
    out.append(mantissa, 0, static_cast<size_t>(exponent + 1)).append(".");
    out.append(mantissa, static_cast<size_t>(exponent + 1));
  }
}

template <typename Container, typename Append>
void AppendContainer(const Container& items, std::string_view brackets, const JsonLayout& layout, std::string& out,
                     int level, const Append& append) {
  out += brackets[0];
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) out += ',';
    is_first = false;
    AppendJsonBreak(layout, level + 1, out);
    append(item);
  }
  if (!is_first) AppendJsonBreak(layout, level, out);
  out += brackets[1];
}

}  // namespace

double JsonValue::AsDouble() const {
  switch (kind()) {
    case JsonKind::kInteger: return static_cast<double>(std::get<int64_t>(data));
    case JsonKind::kUnsigned: return static_cast<double>(std::get<uint64_t>(data));
    default: return std::get<double>(data);
  }
}

const JsonValue* JsonValue::Find(std::string_view name) const {
  if (!Is(JsonKind::kObject)) return nullptr;
  for (const JsonMember& member : object()) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

bool operator==(const JsonValue& a, const JsonValue& b) {
  const Result<bool> equal = AreEqual(a, b, [](uint64_t) { return Ok(); });
  return equal.ok() && *equal;
}

Result<bool> AreEqual(const JsonValue& a, const JsonValue& b, JsonVisit visit) {
  TRY(visit(1));
  if (a.IsNumber() && b.IsNumber()) return EqualNumbers(a, b);
  if (a.kind() != b.kind()) return false;
  if (a.Is(JsonKind::kObject)) return EqualObjects(a.object(), b.object(), visit);
  if (a.Is(JsonKind::kArray)) return EqualArrays(a.array(), b.array(), visit);
  if (a.Is(JsonKind::kString)) {
    if (a.text().size() != b.text().size()) return false;
    TRY(visit(a.text().size() / kJsonBytesPerVisit));
    return a.text() == b.text();
  }
  return a.Is(JsonKind::kNull) || std::get<bool>(a.data) == std::get<bool>(b.data);
}

void AppendJsonString(std::string_view text, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  out += '"';
  for (const char c : text) {
    const size_t special = kSpecial.find(c);
    if (special != std::string_view::npos) {
      out += '\\';
      out += kLetters[special];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out.append("\\u00");
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

void AppendJsonBreak(const JsonLayout& layout, int level, std::string& out) {
  out += layout.newline;
  for (int i = 0; i < level; ++i) out += layout.indent;
}

size_t JsonLayout::Bytes(const JsonValue& value, int level) const {
  size_t bytes = 0;
  size_t items = 0;
  if (value.Is(JsonKind::kArray)) {
    items = value.array().size();
    for (const JsonValue& item : value.array()) bytes += Bytes(item, level + 1);
  } else if (value.Is(JsonKind::kObject)) {
    items = value.object().size();
    for (const JsonMember& member : value.object()) bytes += space.size() + Bytes(member.value, level + 1);
  }
  if (items == 0) return 0;
  const auto outer = static_cast<size_t>(level);
  return bytes + (items + 1) * newline.size() + (items * (outer + 1) + outer) * indent.size();
}

void AppendJson(const JsonValue& value, const JsonLayout& layout, std::string& out, int level) {
  switch (value.kind()) {
    case JsonKind::kNull: out += "null"; return;
    case JsonKind::kBool: out += std::get<bool>(value.data) ? "true" : "false"; return;
    case JsonKind::kInteger: out += std::to_string(std::get<int64_t>(value.data)); return;
    case JsonKind::kUnsigned: out += std::to_string(std::get<uint64_t>(value.data)); return;
    case JsonKind::kDouble: AppendDouble(std::get<double>(value.data), out); return;
    case JsonKind::kString: AppendJsonString(value.text(), out); return;
    case JsonKind::kArray:
      AppendContainer(value.array(), "[]", layout, out, level,
                      [&](const JsonValue& item) { AppendJson(item, layout, out, level + 1); });
      return;
    case JsonKind::kObject:
      AppendContainer(value.object(), "{}", layout, out, level, [&](const JsonMember& member) {
        AppendJsonString(member.name, out);
        out.append(":").append(layout.space);
        AppendJson(member.value, layout, out, level + 1);
      });
  }
}

std::string JsonText(const JsonValue& value) {
  std::string out;
  AppendJson(value, {}, out);
  return out;
}

size_t JsonMemory(const JsonValue::Array& values) {
  size_t bytes = 0;
  for (const JsonValue& value : values) bytes += JsonMemory(value);
  return bytes;
}

size_t JsonMemory(const JsonValue& value) {
  size_t bytes = sizeof value;
  if (value.Is(JsonKind::kString)) bytes += value.text().size();
  if (value.Is(JsonKind::kArray)) bytes += JsonMemory(value.array());
  if (value.Is(JsonKind::kObject)) {
    for (const JsonMember& member : value.object()) {
      bytes += sizeof member.name + member.name.size() + JsonMemory(member.value);
    }
  }
  return bytes;
}

int JsonLevels(const JsonValue& value) {
  int most = 0;
  if (value.Is(JsonKind::kArray)) {
    for (const JsonValue& item : value.array()) most = std::max(most, JsonLevels(item));
  } else if (value.Is(JsonKind::kObject)) {
    for (const JsonMember& member : value.object()) most = std::max(most, JsonLevels(member.value));
  }
  return value.IsContainer() ? most + 1 : 0;
}

std::string_view JsonKindName(const JsonValue& value) { return kKindNames[static_cast<size_t>(value.kind())]; }

}  // namespace cairn
