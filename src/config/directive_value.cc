// SPDX-License-Identifier: BSD-3-Clause
//
// Values of directives: parsing and formatting.
#include <algorithm>
#include <cstdlib>

#include "base/number.h"
#include "base/words.h"
#include "command/args.h"
#include "config/directive.h"
#include "config/directive_syntax.h"

namespace cairn {
namespace {

using Words = std::vector<std::string>;

Status Fail(std::string text) { return Status::Error(Code::kReply, std::move(text)); }

std::string ToOctal(int64_t value) {
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + value % 8));
    value /= 8;
  } while (value != 0);
  return digits;
}

std::optional<int64_t> ParseOctal(const std::string& text) {
  if (text.empty() || text.find_first_not_of("01234567") != text.npos || text.size() > 10) return std::nullopt;
  return std::strtoll(text.c_str(), nullptr, 8);
}

Result<Value> WithinBounds(const Directive& directive, int64_t number, bool is_larger = false) {
  if (number >= directive.min && number <= directive.max && !is_larger) return Value(number);
  const auto show = [&](int64_t bound) {
    return directive.kind == Kind::kOctal ? ToOctal(bound) : std::to_string(bound);
  };
  return Fail("argument must be between " + show(directive.min) + " and " + show(directive.max) + " inclusive");
}

// Returns the nearest value within the bounds. As Redis, it refuses negative numbers and numbers that exceed an int.
Result<Value> Capped(const Directive& directive, int64_t number) {
  if (number < 0 || number > INT32_MAX) return Fail("argument must be between 0 and 2147483647 inclusive");
  return Value(std::clamp(number, directive.min, directive.max));
}

Result<Value> ParseChoice(const Directive& directive, std::string_view word) {
  std::string names;
  for (size_t i = 0; i < directive.choices.size(); ++i) {
    if (EqualsIgnoreCase(directive.choices[i], word)) return Value(static_cast<int64_t>(i));
    names.append(i == 0 ? "" : ", ").append(directive.choices[i]);
  }
  return Fail("argument(s) must be one of the following: " + names);
}

Result<Value> ParseOneWord(const Directive& directive, const std::string& word) {
  switch (directive.kind) {
    case Kind::kBool:
      if (EqualsIgnoreCase(word, "yes")) return Value(true);
      if (EqualsIgnoreCase(word, "no")) return Value(false);
      return Fail("argument must be 'yes' or 'no'");
    case Kind::kNumber: {
      const auto number = ParseInt64(word);
      if (!number) return Fail("argument couldn't be parsed into an integer");
      if (directive.Has(kCapped)) return Capped(directive, *number);
      return WithinBounds(directive, *number);
    }
    case Kind::kOctal: {
      const auto number = ParseOctal(word);
      if (!number) return Fail("argument couldn't be parsed as an octal number");
      return WithinBounds(directive, *number);
    }
    case Kind::kMemory: {
      const auto bytes = ParseMemory(word);
      if (!bytes) return Fail("argument must be a memory value");
      return WithinBounds(directive, static_cast<int64_t>(*bytes), *bytes > INT64_MAX);
    }
    case Kind::kChoice: return ParseChoice(directive, word);
    default: return Value(word);
  }
}

bool TakesManyWords(const Directive& directive) {
  return directive.kind == Kind::kWords || directive.kind == Kind::kSpecial;
}

std::string JoinWords(const Words& words) {
  std::string joined;
  for (const std::string& word : words) joined.append(joined.empty() ? "" : " ").append(word);
  return joined;
}

// Formats the value of a one-word directive for the file.
std::string FileText(const Directive& directive, const Value& value) {
  if (directive.kind == Kind::kMemory) return FormatMemory(static_cast<uint64_t>(std::get<int64_t>(value)));
  const std::string text = FormatValue(directive, value);
  return directive.kind == Kind::kText ? QuoteWord(text) : text;
}

}  // namespace

Result<Value> ParseValue(const Directive& directive, std::span<const std::string> words, const Value& current) {
  if (!TakesManyWords(directive)) {
    if (words.size() != 1) return Fail("wrong number of arguments");
    return ParseOneWord(directive, words[0]);
  }
  // CONFIG SET and the command line pass all words as one.
  Words split(words.begin(), words.end());
  if (words.size() == 1 && !words[0].empty()) {
    auto parts = SplitWords(words[0]);
    if (!parts) return Fail("unbalanced quotes");
    split = std::move(*parts);
  }
  if (directive.kind == Kind::kWords) {
    if (split.empty()) return Fail("wrong number of arguments");
    return Value(std::move(split));
  }
  const Words* kept = std::get_if<Words>(&current);
  return Value(TRY(directive.special->parse(split, kept == nullptr ? Words() : *kept)));
}

std::string FormatValue(const Directive& directive, const Value& value) {
  switch (directive.kind) {
    case Kind::kBool: return std::get<bool>(value) ? "yes" : "no";
    case Kind::kNumber:
    case Kind::kMemory: return std::to_string(std::get<int64_t>(value));
    case Kind::kOctal: return ToOctal(std::get<int64_t>(value));
    case Kind::kChoice: return std::string(directive.choices[std::get<int64_t>(value)]);
    case Kind::kText: return std::get<std::string>(value);
    case Kind::kWords: return JoinWords(std::get<Words>(value));
    case Kind::kSpecial:
      const Words& words = std::get<Words>(value);
      return directive.special->text != nullptr ? directive.special->text(words) : JoinWords(words);
  }
  return {};
}

std::vector<std::string> FormatLines(const Directive& directive, const Value& value) {
  const std::string start = std::string(directive.name) + " ";
  if (!TakesManyWords(directive)) return {start + FileText(directive, value)};
  const Words& words = std::get<Words>(value);
  if (directive.kind == Kind::kWords) {
    std::string line(directive.name);
    for (const std::string& word : words) line.append(" ").append(QuoteWordIfNeeded(word));
    return {line};
  }
  Words lines = directive.special->lines(words);
  for (std::string& line : lines) line.insert(0, start);
  return lines;
}

std::string DescribeSyntax(const Directive& directive) {
  if (!directive.syntax.empty()) return std::string(directive.syntax);
  switch (directive.kind) {
    case Kind::kBool: return "yes | no";
    case Kind::kMemory: return "<bytes>";
    case Kind::kOctal: return "<permissions>";
    case Kind::kNumber: return "<number>";
    case Kind::kChoice: {
      std::string text;
      for (const std::string_view name : directive.choices) text.append(text.empty() ? "" : " | ").append(name);
      return text;
    }
    default: return "<text>";
  }
}

}  // namespace cairn
