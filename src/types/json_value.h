// SPDX-License-Identifier: BSD-3-Clause
//
// JsonValue: a JSON document in memory, its parser and its text.
//
// An integer stays an integer, members keep the order in which they were added, and a number with a fraction or an
// exponent is a double. The compact text is the form of a document in a row, in DUMP and in replies of JSON.GET. It is
// canonical: the parse of it gives the same document.
//
// The parser accepts UTF-8 only, and 128 levels of nesting. So every function that walks a value may recurse.
//
// Thread: that of its user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/result.h"

namespace cairn {

struct JsonMember;

enum class JsonKind : uint8_t { kNull, kBool, kInteger, kUnsigned, kDouble, kString, kArray, kObject };

struct JsonValue {
  using Array = std::vector<JsonValue>;
  using Object = std::vector<JsonMember>;
  // In the order of JsonKind. An unsigned integer is above the maximum of int64_t.
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object> data;

  JsonKind kind() const { return static_cast<JsonKind>(data.index()); }
  bool Is(JsonKind kind) const { return this->kind() == kind; }
  bool IsContainer() const { return kind() >= JsonKind::kArray; }
  bool IsNumber() const { return kind() >= JsonKind::kInteger && kind() <= JsonKind::kDouble; }

  Array& array() { return std::get<Array>(data); }
  const Array& array() const { return std::get<Array>(data); }
  Object& object() { return std::get<Object>(data); }
  const Object& object() const { return std::get<Object>(data); }
  const std::string& text() const { return std::get<std::string>(data); }
  std::string& text() { return std::get<std::string>(data); }
  // REQUIRES: IsNumber()
  double AsDouble() const;

  // The member of an object with this name; null if there is none, or if this is no object.
  const JsonValue* Find(std::string_view name) const;
  JsonValue* Find(std::string_view name) { return const_cast<JsonValue*>(std::as_const(*this).Find(name)); }
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

// Equal documents: numbers of the same kind, so 1 is not 1.0; members in any order.
bool operator==(const JsonValue& a, const JsonValue& b);
// The same. Calls `visit` with the number of values before it compares them; an error of it ends the comparison. Each
// kJsonBytesPerVisit of a name or a text count as one more value.
using JsonVisit = absl::FunctionRef<Status(uint64_t values)>;
Result<bool> AreEqual(const JsonValue& a, const JsonValue& b, JsonVisit visit);
inline constexpr size_t kJsonBytesPerVisit = 64;

inline constexpr int kMostJsonLevels = 128;

// Parses one document. The error is a client's error reply with the position, or kJsonTooLarge if the values take more
// than `most_memory` bytes, as JsonMemory counts them.
Result<JsonValue> ParseJson(std::string_view text, uint64_t most_memory = UINT64_MAX);
inline constexpr std::string_view kJsonTooLarge = "ERR the JSON values take too much memory";

// The parts of an indented text (JSON.GET). All empty: the compact text.
struct JsonLayout {
  std::string_view indent;
  std::string_view newline;
  std::string_view space;

  bool IsCompact() const { return indent.empty() && newline.empty() && space.empty(); }
  // The bytes that AppendJson appends for the layout alone.
  size_t Bytes(const JsonValue& value, int level) const;
};
void AppendJson(const JsonValue& value, const JsonLayout& layout, std::string& out, int level = 0);
std::string JsonText(const JsonValue& value);
// Appends a quoted string.
void AppendJsonString(std::string_view text, std::string& out);
// Appends the line break and the indentation before an element at this level of nesting.
void AppendJsonBreak(const JsonLayout& layout, int level, std::string& out);

// Estimates the memory that a copy takes, in bytes.
size_t JsonMemory(const JsonValue& value);
size_t JsonMemory(const JsonValue::Array& values);

// The levels of nesting: 0 for a scalar, 1 for an empty array.
int JsonLevels(const JsonValue& value);

// The name of the kind of value, as JSON.TYPE returns it.
std::string_view JsonKindName(const JsonValue& value);

}  // namespace cairn
