// SPDX-License-Identifier: BSD-3-Clause
//
// JsonFilter: the condition of a filter step of a JSONPath.
//
//   condition  and (|| and)*
//   and        test (&& test)*
//   test       !test, (condition), or operand [== != < <= > >= =~ operand]
//   operand    a number, a string in either quotes, true, false, null, or a path from `@` or `$`
//
// A lone path tests that it matches. An operand that is a path needs exactly one match; otherwise it equals nothing.
// Numbers compare with numbers and strings with strings; all other kinds are equal or not. `=~` searches a regular
// expression of RE2 in a string, in linear time.
//
// Thread: that of the path.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "types/json_path.h"

namespace cairn {

struct JsonOperand {
  enum class Kind : uint8_t { kConstant, kFromCurrent, kFromRoot };
  Kind kind = Kind::kConstant;
  JsonValue constant;
  JsonPath path;
};

struct JsonFilter {
  enum class Kind : uint8_t { kOr, kAnd, kNot, kExists, kEqual, kUnequal, kLess, kAtMost, kMore, kAtLeast, kMatches };
  Kind kind = Kind::kExists;
  std::vector<JsonFilter> parts;  // of kOr, kAnd, kNot
  JsonOperand left;
  JsonOperand right;
  std::shared_ptr<const RE2> pattern;  // of kMatches with a constant
};

// Compiles a regular expression, and counts that as visits. An invalid one is not ok() and matches nothing; one of more
// than JsonPath::kMostPatternBytes is an error.
Result<std::shared_ptr<const RE2>> CompileJsonPattern(const std::string& text, JsonWork& work);

// Returns the errors of `work` too.
Result<bool> FilterHolds(const JsonFilter& filter, const JsonValue& root, const JsonValue& current, JsonWork& work);

}  // namespace cairn
