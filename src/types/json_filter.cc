// SPDX-License-Identifier: BSD-3-Clause
#include "types/json_filter.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace cairn {
namespace {

// The compilation of a pattern takes about as long: `\pL` stands for hundreds of ranges, and a repetition copies them.
constexpr uint64_t kVisitsOfPattern = 5000;
constexpr uint64_t kVisitsOfPatternByte = 1000;
constexpr int64_t kMostPatternMemory = 256 << 10;

// The matches of an operand that is a path. Comparisons do not keep them, so their memory counts during the match only.
Result<std::vector<JsonMatch>> MatchesOf(const JsonOperand& operand, const JsonValue& root, const JsonValue& current,
                                         JsonWork& work) {
  const bool is_from_root = operand.kind == JsonOperand::Kind::kFromRoot;
  const uint64_t bytes = work.bytes;
  std::vector<JsonMatch> matches = TRY(operand.path.Match(is_from_root ? root : current, work));
  work.bytes = bytes;
  return matches;
}

// The value of an operand; null if its path does not match exactly one value.
Result<const JsonValue*> ValueOf(const JsonOperand& operand, const JsonValue& root, const JsonValue& current,
                                 JsonWork& work) {
  if (operand.kind == JsonOperand::Kind::kConstant) return &operand.constant;
  const std::vector<JsonMatch> matches = TRY(MatchesOf(operand, root, current, work));
  return matches.size() == 1 ? matches[0].value : nullptr;
}

Result<bool> Exists(const JsonOperand& operand, const JsonValue& root, const JsonValue& current, JsonWork& work) {
  if (operand.kind == JsonOperand::Kind::kConstant) return true;
  return !TRY(MatchesOf(operand, root, current, work)).empty();
}

// Calls `holds` with two numbers or two texts; other kinds have no order.
template <typename Holds>
Result<bool> Ordered(const JsonValue& left, const JsonValue& right, JsonWork& work, const Holds& holds) {
  if (left.Is(JsonKind::kInteger) && right.Is(JsonKind::kInteger)) {
    return holds(std::get<int64_t>(left.data), std::get<int64_t>(right.data));
  }
  if (left.IsNumber() && right.IsNumber()) return holds(left.AsDouble(), right.AsDouble());
  if (!left.Is(JsonKind::kString) || !right.Is(JsonKind::kString)) return false;
  TRY(work.Visit(std::min(left.text().size(), right.text().size()) / kJsonBytesPerVisit));
  return holds(left.text(), right.text());
}

// A filter compares numbers by value, whatever their kinds.
Result<bool> AreEqualByValue(const JsonValue& left, const JsonValue& right, JsonWork& work) {
  if (left.IsNumber() && right.IsNumber() && left.kind() != right.kind()) return left.AsDouble() == right.AsDouble();
  return AreEqual(left, right, [&work](uint64_t values) { return work.Visit(values); });
}

// The pattern of the path, or `text` of the document as a pattern.
Result<const RE2*> PatternOf(const JsonFilter& filter, const std::string& text, JsonWork& work) {
  if (filter.pattern != nullptr) return filter.pattern.get();
  if (work.pattern == nullptr || work.pattern->pattern() != text) work.pattern = TRY(CompileJsonPattern(text, work));
  return work.pattern.get();
}

Result<bool> Matches(const JsonFilter& filter, const JsonValue& left, const JsonValue& right, JsonWork& work) {
  if (!left.Is(JsonKind::kString) || !right.Is(JsonKind::kString)) return false;
  const RE2& pattern = *TRY(PatternOf(filter, right.text(), work));
  if (!pattern.ok()) return false;
  // RE2's slowest automaton may follow each instruction of the program at each byte, and once for an empty text.
  const auto instructions = static_cast<uint64_t>(pattern.ProgramSize());
  TRY(work.Visit((1 + left.text().size()) * (1 + instructions) / kJsonBytesPerVisit));
  return RE2::PartialMatch(left.text(), pattern);
}

Result<bool> Compares(const JsonFilter& filter, const JsonValue& left, const JsonValue& right, JsonWork& work) {
  switch (filter.kind) {
    case JsonFilter::Kind::kEqual: return AreEqualByValue(left, right, work);
    case JsonFilter::Kind::kUnequal: return !TRY(AreEqualByValue(left, right, work));
    case JsonFilter::Kind::kLess: return Ordered(left, right, work, std::less<>());
    case JsonFilter::Kind::kAtMost: return Ordered(left, right, work, std::less_equal<>());
    case JsonFilter::Kind::kMore: return Ordered(left, right, work, std::greater<>());
    case JsonFilter::Kind::kAtLeast: return Ordered(left, right, work, std::greater_equal<>());
    default: return Matches(filter, left, right, work);
  }
}

}  // namespace

Result<std::shared_ptr<const RE2>> CompileJsonPattern(const std::string& text, JsonWork& work) {
  if (text.size() > JsonPath::kMostPatternBytes) {
    return Status::Reply("ERR the regular expression exceeds the maximum of 1 KB");
  }
  TRY(work.Visit(kVisitsOfPattern + kVisitsOfPatternByte * text.size()));
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(kMostPatternMemory);
  return std::make_shared<const RE2>(text, options);
}

Result<bool> FilterHolds(const JsonFilter& filter, const JsonValue& root, const JsonValue& current, JsonWork& work) {
  using Kind = JsonFilter::Kind;
  TRY(work.Visit(1));
  if (filter.kind == Kind::kNot) return !TRY(FilterHolds(filter.parts[0], root, current, work));
  if (filter.kind == Kind::kOr || filter.kind == Kind::kAnd) {
    const bool decides = filter.kind == Kind::kOr;
    for (const JsonFilter& part : filter.parts) {
      if (TRY(FilterHolds(part, root, current, work)) == decides) return decides;
    }
    return !decides;
  }
  if (filter.kind == Kind::kExists) return Exists(filter.left, root, current, work);
  const JsonValue* const left = TRY(ValueOf(filter.left, root, current, work));
  const JsonValue* const right = TRY(ValueOf(filter.right, root, current, work));
  if (left == nullptr || right == nullptr) return filter.kind == Kind::kUnequal;
  return Compares(filter, *left, *right, work);
}

}  // namespace cairn
