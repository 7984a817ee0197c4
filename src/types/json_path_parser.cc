// SPDX-License-Identifier: BSD-3-Clause
//
// The parser of paths (types/json_path.h) and of their filters (types/json_filter.h), by recursive descent.
#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "types/json_filter.h"
#include "types/json_path.h"

namespace cairn {

class JsonPathParser {
 public:
  JsonPathParser(std::string_view text, JsonWork& work) : text_(text), work_(work) {}

  Result<JsonPath> ParseWhole() {
    JsonPath path;
    if (!Take("$")) return Error();
    TRY(ParseSteps(path.steps_));
    SkipSpaces();
    if (next_ != text_.size()) return Error();
    return path;
  }

 private:
  using Filter = JsonFilter::Kind;

  // Filters may nest in filters; the path would otherwise decide how deep this parser recurses.
  static constexpr int kMostLevels = 64;

  Status Error() const {
    return Status::Reply("ERR Error occurred on position " + std::to_string(next_) + " of the path");
  }

  bool AtEnd() const { return next_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[next_]; }
  void SkipSpaces() {
    while (Peek() == ' ') ++next_;
  }
  bool Take(std::string_view token) {
    SkipSpaces();
    if (!text_.substr(next_).starts_with(token)) return false;
    next_ += token.size();
    return true;
  }

  static bool IsNameByte(char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return is_letter || static_cast<unsigned char>(c) >= 0x80 ||
           (c != '\0' && std::string_view("-_`+#%$^/:~").find(c) != std::string_view::npos);
  }

  Status ParseSteps(std::vector<JsonStep>& steps) {
    for (;;) {
      if (Take("..")) {
        steps.push_back({.kind = JsonStep::Kind::kDescend});
        TRY(Take("[") ? ParseBracket(steps) : ParseName(steps));
      } else if (Take(".")) {
        TRY(Take("[") ? ParseBracket(steps) : ParseName(steps));
      } else if (Take("[")) {
        TRY(ParseBracket(steps));
      } else {
        return Ok();
      }
    }
  }

  Status ParseName(std::vector<JsonStep>& steps) {
    if (Take("*")) {
      steps.push_back({.kind = JsonStep::Kind::kAll});
      return Ok();
    }
    const size_t begin = next_;
    while (!AtEnd() && IsNameByte(Peek())) ++next_;
    if (next_ == begin) return Error();
    steps.push_back({.kind = JsonStep::Kind::kNames, .names = {std::string(text_.substr(begin, next_ - begin))}});
    return Ok();
  }

  // What follows a `[`, with the `]`.
  Status ParseBracket(std::vector<JsonStep>& steps) {
    JsonStep step;
    SkipSpaces();
    if (Take("*")) {
      step.kind = JsonStep::Kind::kAll;
    } else if (Take("?")) {
      step.kind = JsonStep::Kind::kFilter;
      step.filter = std::make_shared<JsonFilter>(TRY(ParseOr()));
    } else if (Peek() == '"' || Peek() == '\'') {
      step.kind = JsonStep::Kind::kNames;
      do step.names.push_back(TRY(ParseString()));
      while (Take(","));
    } else {
      TRY(ParseIndexes(step));
    }
    if (!Take("]")) return Error();
    steps.push_back(std::move(step));
    return Ok();
  }

  Status ParseIndexes(JsonStep& step) {
    std::optional<int64_t> first;
    if (!Take(":")) {
      first = TRY(ParseInteger());
      if (!Take(":")) {
        step.kind = JsonStep::Kind::kIndexes;
        step.indexes = {*first};
        while (Take(",")) step.indexes.push_back(TRY(ParseInteger()));
        return Ok();
      }
    }
    step.kind = JsonStep::Kind::kRange;
    step.indexes = {first.value_or(0), INT64_MAX};
    SkipSpaces();
    if (Peek() != ':' && Peek() != ']') step.indexes[1] = TRY(ParseInteger());
    if (!Take(":")) return Ok();
    SkipSpaces();
    if (Peek() == ']') return Ok();
    const int64_t stride = TRY(ParseInteger());
    if (stride <= 0) return Error();
    step.stride = static_cast<uint64_t>(stride);
    return Ok();
  }

  Result<int64_t> ParseInteger() {
    SkipSpaces();
    int64_t value = 0;
    const auto result = std::from_chars(text_.data() + next_, text_.data() + text_.size(), value);
    if (result.ec != std::errc()) return Error();
    next_ = static_cast<size_t>(result.ptr - text_.data());
    return value;
  }

  // A string in either quotes; a backslash escapes a quote or a backslash.
  Result<std::string> ParseString() {
    SkipSpaces();
    const char quote = Peek();
    if (quote != '"' && quote != '\'') return Error();
    std::string value;
    for (++next_; Peek() != quote; ++next_) {
      if (AtEnd()) return Error();
      const char after = next_ + 1 < text_.size() ? text_[next_ + 1] : '\0';
      if (Peek() == '\\' && (after == quote || after == '\\')) ++next_;
      value += Peek();
    }
    ++next_;
    return value;
  }

  Result<JsonFilter> ParseOr() { return ParseList(Filter::kOr); }

  Result<JsonFilter> ParseList(Filter kind) {
    JsonFilter list = {.kind = kind};
    do list.parts.push_back(kind == Filter::kOr ? TRY(ParseList(Filter::kAnd)) : TRY(ParseTest()));
    while (Take(kind == Filter::kOr ? "||" : "&&"));
    if (list.parts.size() > 1) return list;
    JsonFilter only = std::move(list.parts[0]);
    return only;
  }

  Result<JsonFilter> ParseTest() {
    if (++levels_ > kMostLevels) return Error();
    JsonFilter test = TRY(ParseTestWithin());
    --levels_;
    return test;
  }

  Result<JsonFilter> ParseTestWithin() {
    if (Take("(")) {
      JsonFilter inner = TRY(ParseOr());
      if (!Take(")")) return Error();
      return inner;
    }
    JsonFilter test;
    if (!text_.substr(next_).starts_with("!=") && Take("!")) {
      test.kind = Filter::kNot;
      test.parts.push_back(TRY(ParseTest()));
      return test;
    }
    test.left = TRY(ParseOperand());
    test.kind = TakeOperator();
    if (test.kind == Filter::kExists) return test;
    test.right = TRY(ParseOperand());
    const bool has_pattern =
        test.right.kind == JsonOperand::Kind::kConstant && test.right.constant.Is(JsonKind::kString);
    if (test.kind == Filter::kMatches && has_pattern) {
      if (++patterns_ > JsonPath::kMostPatterns) return Error();
      test.pattern = TRY(CompileJsonPattern(test.right.constant.text(), work_));
    }
    return test;
  }

  Filter TakeOperator() {
    constexpr std::pair<std::string_view, Filter> kOperators[] = {
        {"==", Filter::kEqual},   {"!=", Filter::kUnequal}, {"<=", Filter::kAtMost}, {"<", Filter::kLess},
        {">=", Filter::kAtLeast}, {">", Filter::kMore},     {"=~", Filter::kMatches}};
    for (const auto& [token, kind] : kOperators) {
      if (Take(token)) return kind;
    }
    return Filter::kExists;
  }

  Result<JsonOperand> ParseOperand() {
    JsonOperand operand;
    if (Take("@") || Take("$")) {
      operand.kind = text_[next_ - 1] == '@' ? JsonOperand::Kind::kFromCurrent : JsonOperand::Kind::kFromRoot;
      if (IsNameByte(Peek())) TRY(ParseName(operand.path.steps_));
      TRY(ParseSteps(operand.path.steps_));
      return operand;
    }
    SkipSpaces();
    if (Peek() == '"' || Peek() == '\'') {
      operand.constant.data = TRY(ParseString());
      return operand;
    }
    // A number, a constant, or a document in brackets without spaces.
    const size_t begin = next_;
    while (!AtEnd() && std::string_view(" )]&|=!<>").find(Peek()) == std::string_view::npos) ++next_;
    Result<JsonValue> constant = ParseJson(text_.substr(begin, next_ - begin));
    if (!constant.ok() || constant->IsContainer()) {
      next_ = begin;
      return Error();
    }
    operand.constant = std::move(*constant);
    return operand;
  }

  std::string_view text_;
  JsonWork& work_;
  size_t next_ = 0;
  int levels_ = 0;
  int patterns_ = 0;
};

Result<JsonPath> JsonPath::Parse(std::string_view text, JsonWork& work) {
  if (text.size() > kMostBytes) return Status::Reply("ERR the path exceeds the maximum of 64 KB");
  const bool is_legacy = text != "$" && !text.starts_with("$.") && !text.starts_with("$[");
  std::string whole = "$";
  if (is_legacy && text != ".") {
    if (!text.starts_with('.') && !text.starts_with('[')) whole += '.';
    whole += text;
  }
  JsonPath path = TRY(JsonPathParser(is_legacy ? whole : text, work).ParseWhole());
  path.is_legacy_ = is_legacy;
  return path;
}

}  // namespace cairn
