// SPDX-License-Identifier: BSD-3-Clause
#include "command/syntax.h"

#include <algorithm>

namespace cairn {
namespace {

// ---- the usage line as a tree

struct Term {
  enum class Kind : unsigned char { kWord, kOptional, kRequired };
  Kind kind = Kind::kWord;
  std::string_view word;
  struct Alternative {
    std::vector<Term> terms;
    bool repeated = false;  // followed by "..."

    bool operator==(const Alternative&) const = default;
  };
  std::vector<Alternative> alternatives;  // of a group

  bool operator==(const Term&) const = default;

  bool IsLiteral() const {
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    return kind == Kind::kWord && std::none_of(word.begin(), word.end(), is_lower);
  }
  // An optional part that starts with its own token.
  bool StartsWithToken() const {
    return kind == Kind::kOptional && !alternatives[0].terms.empty() && alternatives[0].terms[0].IsLiteral();
  }
};
using Terms = std::span<const Term>;

class UsageReader {
 public:
  explicit UsageReader(std::string_view text) : rest_(text) {}

  Result<Term::Alternative> ReadAll() {
    Term::Alternative all = TRY(ReadTerms());
    SkipSpaces();
    if (!rest_.empty()) return Status::Corruption("usage line: a closing bracket without an opening one");
    if (all.repeated) return Status::Corruption("usage line: ... outside of brackets");
    return all;
  }

 private:
  static bool IsMark(char c) { return c == '[' || c == ']' || c == '<' || c == '>' || c == '|'; }

  void SkipSpaces() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }

  std::string_view ReadWord() {
    size_t size = 0;
    while (size < rest_.size() && rest_[size] != ' ' && !IsMark(rest_[size])) ++size;
    const std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return word;
  }

  // Reads terms up to the end, a bar or a closing bracket, which is left for the caller.
  Result<Term::Alternative> ReadTerms() {
    Term::Alternative read;
    for (SkipSpaces(); !rest_.empty(); SkipSpaces()) {
      const char c = rest_[0];
      if (c == '|' || c == ']' || c == '>') break;
      if (read.repeated) return Status::Corruption("usage line: a term behind ...");
      if (c == '[' || c == '<') {
        read.terms.push_back(TRY(ReadGroup()));
      } else if (const std::string_view word = ReadWord(); word == "...") {
        read.repeated = true;
      } else {
        read.terms.push_back({.word = word});
      }
    }
    return read;
  }

  Result<Term> ReadGroup() {
    const bool optional = rest_[0] == '[';
    const char end = optional ? ']' : '>';
    Term group = {.kind = optional ? Term::Kind::kOptional : Term::Kind::kRequired};
    do {
      rest_.remove_prefix(1);  // the bracket or the bar
      group.alternatives.push_back(TRY(ReadTerms()));
      const Term::Alternative& read = group.alternatives.back();
      if (read.terms.empty() && !read.repeated) return Status::Corruption("usage line: an empty part");
    } while (!rest_.empty() && rest_[0] == '|');
    if (rest_.empty() || rest_[0] != end) return Status::Corruption("usage line: an unclosed bracket");
    rest_.remove_prefix(1);
    return group;
  }

  std::string_view rest_;
};

// ---- the tree as arguments

struct NamedType {
  std::string_view name;
  ArgumentType type;
};

constexpr NamedType kTypeNames[] = {
    {"string", ArgumentType::kString},        {"integer", ArgumentType::kInteger},
    {"double", ArgumentType::kDouble},        {"key", ArgumentType::kKey},
    {"pattern", ArgumentType::kPattern},      {"unix-time", ArgumentType::kUnixTime},
    {"pure-token", ArgumentType::kPureToken}, {"oneof", ArgumentType::kOneOf},
    {"block", ArgumentType::kBlock},
};

// Argument names that imply a type.
constexpr std::string_view kKeys[] = {"key",     "key1",        "key2", "newkey",    "source",
                                      "destkey", "destination", "src",  "sourcekey", "dst"};
constexpr std::string_view kIntegers[] = {
    "client-id", "count",         "cursor",      "db",    "decrement", "destination-db", "frequency", "increment",
    "index",     "index1",        "index2",      "limit", "len",       "milliseconds",   "ms",        "numkeys",
    "offset",    "min-match-len", "num-matches", "port",  "protover",  "rank",           "seconds",   "weight"};
constexpr std::string_view kDoubles[] = {"timeout", "score"};
constexpr std::string_view kUnixTimes[] = {"unix-time-seconds", "unix-time-milliseconds"};

template <size_t N>
bool IsOneOf(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(names, names + N, name) != names + N;
}

ArgumentType TypeByName(std::string_view name) {
  if (IsOneOf(name, kKeys)) return ArgumentType::kKey;
  if (IsOneOf(name, kIntegers)) return ArgumentType::kInteger;
  if (IsOneOf(name, kDoubles)) return ArgumentType::kDouble;
  if (IsOneOf(name, kUnixTimes)) return ArgumentType::kUnixTime;
  return name == "pattern" ? ArgumentType::kPattern : ArgumentType::kString;
}

Argument FromName(std::string_view word) {
  const size_t colon = std::min(word.find(':'), word.size());
  const std::string_view ending = word.substr(std::min(colon + 1, word.size()));
  for (const auto& [name, type] : kTypeNames) {
    if (name == ending) return {.name = std::string(word.substr(0, colon)), .type = type};
  }
  return {.name = std::string(word), .type = TypeByName(word)};
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return lower;
}

// Returns one argument for all of `parts`. REQUIRES: at least one part. A block is named after its parts, a choice
// after the words in it.
Argument Join(std::vector<Argument> parts, ArgumentType type) {
  if (parts.size() == 1) return std::move(parts[0]);
  Argument joined = {.type = type};
  for (const Argument& part : parts) {
    if (!joined.name.empty()) joined.name.push_back('_');
    const bool by_token = type == ArgumentType::kOneOf && !part.token.empty();
    joined.name.append(by_token ? Lower(part.token) : part.name);
  }
  joined.arguments = std::move(parts);
  return joined;
}

std::vector<Argument> FromTerms(Terms terms);

// The number of terms that an optional group right behind them repeats: 2 for "a b [a b ...]", 1 for "<a | b> [...]", 0
// for none.
size_t RepeatedTerms(Terms terms) {
  for (size_t n = 1; n < terms.size(); ++n) {
    const Term& group = terms[n];
    if (group.kind != Term::Kind::kOptional || !group.alternatives[0].repeated) continue;
    const std::vector<Term>& body = group.alternatives[0].terms;
    if (body.empty() && n == 1) return 1;
    if (body.size() == n && std::equal(body.begin(), body.end(), terms.begin())) return n;
  }
  return 0;
}

void Repeat(Argument& argument) {
  argument.multiple = true;
  argument.multiple_token = !argument.token.empty();
}

Argument FromGroup(const Term& group) {
  std::vector<Argument> choices;
  for (const Term::Alternative& alternative : group.alternatives) {
    choices.push_back(Join(FromTerms(alternative.terms), ArgumentType::kBlock));
    if (alternative.repeated) Repeat(choices.back());
  }
  Argument argument = Join(std::move(choices), ArgumentType::kOneOf);
  argument.optional |= group.kind == Term::Kind::kOptional;
  return argument;
}

// Parses a token with its arguments; `used` becomes the number of terms.
Argument FromLiteral(Terms terms, size_t& used) {
  used = 1;
  while (used < terms.size() && !terms[used].IsLiteral() && !terms[used].StartsWithToken()) ++used;
  const std::string token(terms[0].word);
  if (used == 1) {
    return {.name = Lower(token), .type = ArgumentType::kPureToken, .token = token};
  }
  Argument argument = Join(FromTerms(terms.subspan(1, used - 1)), ArgumentType::kBlock);
  if (!argument.token.empty()) {  // it has its own token: make a block of one
    Argument block = {.name = argument.name, .type = ArgumentType::kBlock};
    block.arguments.push_back(std::move(argument));
    argument = std::move(block);
  }
  argument.token = token;
  return argument;
}

std::vector<Argument> FromTerms(Terms terms) {
  std::vector<Argument> arguments;
  while (!terms.empty()) {
    size_t used = 1;
    if (const size_t repeated = RepeatedTerms(terms)) {
      arguments.push_back(Join(FromTerms(terms.first(repeated)), ArgumentType::kBlock));
      Repeat(arguments.back());
      used = repeated + 1;
    } else if (terms[0].kind != Term::Kind::kWord) {
      arguments.push_back(FromGroup(terms[0]));
    } else if (terms[0].IsLiteral()) {
      arguments.push_back(FromLiteral(terms, used));
    } else {
      arguments.push_back(FromName(terms[0].word));
    }
    terms = terms.subspan(used);
  }
  return arguments;
}

// ---- which key spec finds which key

bool HasWord(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

// Whether `spec` finds a key that is argument number `position`, counted from the command's name.
bool Finds(const KeySpec& spec, int position, std::string_view token) {
  if (spec.unknown) return HasWord(spec.keyword, token);
  if (!spec.keyword.empty()) return spec.keyword == token;
  if (spec.begin == 0) return false;
  const int first = spec.begin + (spec.keynum < 0 ? 0 : spec.first_after_keynum);
  return position >= first && (spec.keynum >= 0 || spec.last < 0 || position <= first + spec.last);
}

// `token` is the token of the block that contains the arguments.
void FindKeySpecs(const CommandRow& row, std::vector<Argument>& arguments, std::string_view token, int& position) {
  for (Argument& argument : arguments) {
    const bool is_pattern = argument.type == ArgumentType::kPattern;
    if (argument.type == ArgumentType::kKey || is_pattern) {
      for (int i = 0; i < static_cast<int>(std::size(row.keys)) && argument.key_spec < 0; ++i) {
        const std::string_view behind = argument.token.empty() ? token : argument.token;
        // A pattern is not a key but may lead to keys.
        if (is_pattern && !row.keys[i].unknown) continue;
        if (Finds(row.keys[i], position, behind)) argument.key_spec = i;
      }
    }
    if (argument.type == ArgumentType::kBlock) {
      FindKeySpecs(row, argument.arguments, argument.token, position);
    } else {
      ++position;
    }
  }
}

// The position of the first argument: one further to the right for a subcommand.
int FirstPosition(const CommandRow& row, const std::vector<Argument>& arguments) {
  if (arguments.empty()) return 1;
  if (arguments[0].type == ArgumentType::kBlock) return FirstPosition(row, arguments[0].arguments);
  return arguments[0].type == ArgumentType::kKey && row.keys[0].begin > 0 ? row.keys[0].begin : 1;
}

}  // namespace

std::string_view ArgumentTypeName(ArgumentType type) {
  for (const NamedType& named : kTypeNames) {
    if (named.type == type) return named.name;
  }
  return {};
}

Result<std::vector<Argument>> ParseSyntax(const CommandRow& row) {
  const Term::Alternative usage = TRY(UsageReader(row.syntax).ReadAll());
  std::vector<Argument> arguments = FromTerms(usage.terms);
  int position = FirstPosition(row, arguments);
  FindKeySpecs(row, arguments, {}, position);
  return arguments;
}

}  // namespace cairn
