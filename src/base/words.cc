// SPDX-License-Identifier: BSD-3-Clause
#include "base/words.h"

namespace cairn {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

// Bytes that may stand between words; EndsWord has those that end one.
bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool EndsWord(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

char Unescape(char c) {
  switch (c) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'b': return '\b';
    case 'a': return '\a';
    default: return c;
  }
}

// Reads one line; each step takes bytes from the front of rest_.
class Splitter {
 public:
  explicit Splitter(std::string_view line) : rest_(line) {}

  bool SkipBlanks() {
    while (!rest_.empty() && IsBlank(rest_[0])) rest_.remove_prefix(1);
    return !rest_.empty();
  }

  // False if a quote is not closed properly.
  bool ReadWord(std::string& word) {
    while (!rest_.empty() && !EndsWord(rest_[0])) {
      const char c = Take();
      if (c == '"' || c == '\'') return c == '"' ? ReadDoubleQuoted(word) : ReadSingleQuoted(word);
      word.push_back(c);
    }
    return true;
  }

 private:
  char Take() {
    const char c = rest_[0];
    rest_.remove_prefix(1);
    return c;
  }

  // After a closing quote, only a blank or the end may follow.
  bool EndsHere() const { return rest_.empty() || IsBlank(rest_[0]); }

  bool ReadDoubleQuoted(std::string& word) {
    while (!rest_.empty()) {
      const char c = Take();
      if (c == '"') return EndsHere();
      if (c != '\\' || rest_.empty()) {
        word.push_back(c);
      } else if (rest_[0] == 'x' && rest_.size() >= 3 && HexValue(rest_[1]) >= 0 && HexValue(rest_[2]) >= 0) {
        word.push_back(static_cast<char>(HexValue(rest_[1]) * 16 + HexValue(rest_[2])));
        rest_.remove_prefix(3);
      } else {
        word.push_back(Unescape(Take()));
      }
    }
    return false;
  }

  bool ReadSingleQuoted(std::string& word) {
    while (!rest_.empty()) {
      const char c = Take();
      if (c == '\'') return EndsHere();
      if (c == '\\' && !rest_.empty() && rest_[0] == '\'') {
        word.push_back(Take());
      } else {
        word.push_back(c);
      }
    }
    return false;
  }

  std::string_view rest_;
};

bool NeedsQuotes(std::string_view word) {
  if (word.empty()) return true;
  for (const char c : word) {
    if (c <= ' ' || c > '~' || c == '"' || c == '\\' || c == '\'' || c == '#') return true;
  }
  return false;
}

}  // namespace

std::optional<std::vector<std::string>> SplitWords(std::string_view line) {
  std::vector<std::string> words;
  Splitter splitter(line.substr(0, line.find('\0')));  // stops at a zero byte
  while (splitter.SkipBlanks()) {
    std::string word;
    if (!splitter.ReadWord(word)) return std::nullopt;
    words.push_back(std::move(word));
  }
  return words;
}

std::string QuoteWord(std::string_view word) {
  std::string quoted = "\"";
  for (const char c : word) {
    switch (c) {
      case '\\': quoted += "\\\\"; break;
      case '"': quoted += "\\\""; break;
      case '\n': quoted += "\\n"; break;
      case '\r': quoted += "\\r"; break;
      case '\t': quoted += "\\t"; break;
      case '\a': quoted += "\\a"; break;
      case '\b': quoted += "\\b"; break;
      default:
        if (c >= ' ' && c <= '~') {
          quoted.push_back(c);
        } else {
          const auto byte = static_cast<unsigned char>(c);
          quoted.append({'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15]});
        }
    }
  }
  quoted.push_back('"');
  return quoted;
}

std::string QuoteWordIfNeeded(std::string_view word) { return NeedsQuotes(word) ? QuoteWord(word) : std::string(word); }

std::string ShowWord(std::string_view word) {
  constexpr size_t kMostShownBytes = 128;
  return QuoteWordIfNeeded(word.substr(0, kMostShownBytes)) + (word.size() > kMostShownBytes ? "..." : "");
}

bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

}  // namespace cairn
