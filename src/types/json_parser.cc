// SPDX-License-Identifier: BSD-3-Clause
//
// The parser of JSON documents: builds a JsonValue from the events of nlohmann's SAX parser. That parser keeps its own
// stack, so deep nesting costs no stack of the thread; JsonBuilder refuses it at the first level too many.
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "types/json_value.h"

namespace cairn {
namespace {

constexpr std::string_view kExpectedValue = "ERR expected value";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// A container that is not closed yet. Its values move into the parent when it closes, so no pointer becomes invalid.
struct OpenContainer {
  JsonValue value;
  std::string name;  // of the next member
  // Of a large object: the members' positions. Clients choose the names, so their hashes need a secret seed. Abseil's
  // is the address of a variable, which is random because the server is a position-independent executable.
  absl::flat_hash_map<std::string, size_t> names;
};

class JsonBuilder {
 public:
  explicit JsonBuilder(uint64_t most_memory) : memory_left_(most_memory) {}

  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  bool null() { return Add({}); }
  bool boolean(bool value) { return Add({value}); }
  bool number_integer(number_integer_t value) { return Add({int64_t{value}}); }
  bool number_unsigned(number_unsigned_t value) {
    if (value <= static_cast<uint64_t>(INT64_MAX)) return Add({static_cast<int64_t>(value)});
    return Add({uint64_t{value}});
  }
  bool number_float(number_float_t value, const string_t&) {
    return std::isfinite(value) ? Add({value}) : Fail("ERR number out of range");
  }
  bool string(string_t& value) { return TakeMemory(value.size()) && Add({std::move(value)}); }
  bool binary(binary_t&) { return false; }
  bool start_object(size_t) { return Begin({JsonValue::Object()}); }
  bool key(string_t& name) {
    if (!TakeMemory(sizeof(std::string) + name.size())) return false;
    open_.back().name = std::move(name);
    return true;
  }
  bool end_object() { return End(); }
  bool start_array(size_t) { return Begin({JsonValue::Array()}); }
  bool end_array() { return End(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) {
    position_ = position;
    // 406: a number that no double can hold.
    return Fail(error.id == 406 ? "ERR number out of range" : kExpectedValue);
  }

  const std::string& error() const { return error_; }
  size_t position() const { return position_; }
  JsonValue Take() { return std::move(root_); }

 private:
  // An object with more members finds duplicates by a hash table.
  static constexpr size_t kFewMembers = 16;

  bool Fail(std::string_view error) {
    error_ = error;
    return false;
  }

  // Counts the same bytes as JsonMemory.
  bool TakeMemory(uint64_t bytes) {
    if (bytes > memory_left_) return Fail(kJsonTooLarge);
    memory_left_ -= bytes;
    return true;
  }

  bool Begin(JsonValue container) {
    if (open_.size() >= kMostJsonLevels) return Fail("ERR recursion limit exceeded");
    open_.push_back({.value = std::move(container)});
    return true;
  }

  bool End() {
    JsonValue value = std::move(open_.back().value);
    open_.pop_back();
    return Add(std::move(value));
  }

  bool Add(JsonValue value) {
    if (!TakeMemory(sizeof value)) return false;
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (OpenContainer& parent = open_.back(); parent.value.Is(JsonKind::kArray)) {
      parent.value.array().push_back(std::move(value));
    } else {
      AddMember(parent, std::move(value));
    }
    return true;
  }

  // The last of several members with a name counts, at the place of the first.
  static void AddMember(OpenContainer& parent, JsonValue value) {
    JsonValue::Object& members = parent.value.object();
    if (JsonValue* const old = FindMember(parent)) {
      *old = std::move(value);
      return;
    }
    if (!parent.names.empty()) parent.names.emplace(parent.name, members.size());
    members.push_back({std::move(parent.name), std::move(value)});
  }

  static JsonValue* FindMember(OpenContainer& parent) {
    JsonValue::Object& members = parent.value.object();
    if (members.size() < kFewMembers) return parent.value.Find(parent.name);
    if (parent.names.empty()) {
      for (size_t i = 0; i < members.size(); ++i) parent.names.emplace(members[i].name, i);
    }
    const auto found = parent.names.find(parent.name);
    return found == parent.names.end() ? nullptr : &members[found->second].value;
  }

  uint64_t memory_left_;
  JsonValue root_;
  std::vector<OpenContainer> open_;
  std::string error_;
  size_t position_ = 0;
};

// The error at this byte of the text, counted from 1; 0: it has no place.
Status Refused(std::string_view error, size_t position) {
  std::string text(error);
  if (position > 0) text.append(" at line 1 column ").append(std::to_string(position));
  return Status::Reply(text);
}

}  // namespace

Result<JsonValue> ParseJson(std::string_view text, uint64_t most_memory) {
  JsonBuilder builder(most_memory);
  // The SAX parser skips a byte order mark, and ends at a zero byte behind a value. Neither is JSON.
  if (text.starts_with(kByteOrderMark)) return Refused(kExpectedValue, 1);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder))
    return Refused(builder.error(), builder.position());
  const size_t zero = text.find('\0');
  if (zero != std::string_view::npos) return Refused(kExpectedValue, zero + 1);
  return builder.Take();
}

}  // namespace cairn
