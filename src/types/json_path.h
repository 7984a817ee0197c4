// SPDX-License-Identifier: BSD-3-Clause
//
// JsonPath: a path to values within a JSON document, parsed once and then matched.
//
// A JSONPath is `$`, or starts with `$.` or `$[`. Every other path is a legacy path of RedisJSON 1: `.`, `.a.b`, `a.b`;
// it means the JSONPath with a `$` in front, but its commands reply with one value instead of an array.
//
//   .name ["a","b"] .* [*]     members, elements
//   [0] [-1] [0,2] [1:5:2]     elements; a negative index counts from the end, the end of a range is excluded
//   ..                         the next step at this value and at all values below
//   [?(@.a>1 && $.b=='x')]     the children for which the filter holds (types/json_filter.h)
//
// Thread: that of its user; a path is a constant.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/command_state.h"
#include "types/json_value.h"

namespace re2 {
class RE2;
}

namespace cairn {

struct JsonFilter;

struct JsonStep {
  enum class Kind : uint8_t { kNames, kIndexes, kRange, kAll, kDescend, kFilter };
  Kind kind = Kind::kAll;
  std::vector<std::string> names;
  std::vector<int64_t> indexes;
  // kRange: indexes {begin, end}; an end that the path does not have is INT64_MAX.
  uint64_t stride = 1;
  std::shared_ptr<const JsonFilter> filter;

  // Whether it leads to at most one child.
  bool IsSingle() const { return names.size() == 1 || (kind == Kind::kIndexes && indexes.size() == 1); }
};

// The way from the root to a value: the position of each child in its array or object. A location that sorts later is
// edited first: then no edit moves a value that is still to be edited.
using JsonLocation = std::vector<size_t>;

struct JsonMatch {
  const JsonValue* value = nullptr;
  JsonLocation location;
};

// The work of a command that matches paths and does something with each match.
struct JsonWork {
  // A path like $..[*]..[*]..[*] matches a value many times. This bounds the time of a command.
  static constexpr uint64_t kMostVisits = 8'000'000;
  static constexpr uint64_t kVisitsPerStep = 16;
  // An edit of an array may move its elements, which takes less time than visits of them.
  static constexpr uint64_t kMovesPerVisit = 16;

  CommandState* command = nullptr;  // takes the steps; null: visits take none
  uint64_t most_visits = kMostVisits;
  uint64_t most_bytes = UINT64_MAX;
  uint64_t visits = 0;  // of values; texts, names, patterns and moves are counted as values that take as long
  uint64_t bytes = 0;   // of the matches in memory
  // The last regular expression that came from the document. Elements that share one compile it once.
  std::shared_ptr<const re2::RE2> pattern;

  // Returns an error beyond most_visits; else takes steps from the work budget (CommandState::Spend).
  Status Visit(uint64_t values) {
    const uint64_t steps = (visits + values) / kVisitsPerStep - visits / kVisitsPerStep;
    visits += values;
    if (visits > most_visits) return Status::Reply("ERR the path matches too many values");
    return command == nullptr ? Ok() : command->Spend(steps);
  }
  // Counts the memory of one more match; returns kJsonTooLarge beyond most_bytes.
  Status AddMatch(const JsonLocation& location) {
    constexpr uint64_t kBytesOfBlock = 32;
    constexpr uint64_t kCopies = 2;  // a vector that grows has room for more; commands that edit copy the locations
    bytes += kCopies * (sizeof(JsonMatch) + kBytesOfBlock + location.size() * sizeof(location[0]));
    return bytes > most_bytes ? Status::Reply(kJsonTooLarge) : Ok();
  }
};

class JsonPath {
 public:
  // A parsed path may take a hundred times the memory of its text, and a regular expression hundreds of KB.
  static constexpr size_t kMostBytes = 64 << 10;
  static constexpr int kMostPatterns = 16;
  static constexpr size_t kMostPatternBytes = 1 << 10;

  // `work` counts the compilation of regular expressions. The error is a client's error reply, or that of `work`.
  static Result<JsonPath> Parse(std::string_view text, JsonWork& work);

  bool is_legacy() const { return is_legacy_; }
  bool IsRoot() const { return steps_.empty(); }
  const std::vector<JsonStep>& steps() const { return steps_; }
  // Whether it names at most one value of any document.
  bool IsStatic() const;
  // The path without its last step. REQUIRES: !IsRoot()
  JsonPath Parent() const;

  // Returns the matches in document order: a value before the values below it; or the error of `work`.
  Result<std::vector<JsonMatch>> Match(const JsonValue& root, JsonWork& work) const;

 private:
  friend class JsonPathParser;
  std::vector<JsonStep> steps_;
  bool is_legacy_ = false;
};

// The value at a location that a match of this document returned.
JsonValue& ValueAt(JsonValue& root, const JsonLocation& location);

}  // namespace cairn
