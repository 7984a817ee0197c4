// SPDX-License-Identifier: BSD-3-Clause
#include "base/glob.h"

#include <utility>

namespace cairn {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

// As in Redis, a pattern that needs more stars than this matches nothing.
constexpr int kMostStars = 1000;

// Reads one pattern element after another; every element but the star matches exactly one byte.
class Matcher {
 public:
  Matcher(std::string_view pattern, std::string_view text, LetterCase letters)
      : pattern_(pattern), text_(text), ignore_case_(letters == LetterCase::kIgnore) {}

  bool Run() {
    size_t star = kNowhere;  // the pattern position after the last star, if the star can match more bytes
    size_t retry = 0;        // the text position after the bytes that the star matches
    size_t at = 0;
    int stars = 0;
    next_ = 0;
    while (at < text_.size()) {
      if (next_ < pattern_.size() && pattern_[next_] == '*') {
        while (next_ < pattern_.size() && pattern_[next_] == '*') ++next_;
        if (next_ < pattern_.size() && ++stars > kMostStars) return false;
        const size_t segment = next_;
        const size_t left = text_.size() - at;
        const size_t size = SkipSegment(left);
        if (size > left) return false;
        const bool is_last = next_ == pattern_.size();
        if (is_last) at = text_.size() - size;  // it can match the end of the text only
        star = is_last ? kNowhere : segment;
        retry = at;
        next_ = segment;
      } else if (next_ < pattern_.size() && MatchOne(text_[at])) {
        ++at;
      } else if (star != kNowhere) {
        next_ = star;
        at = ++retry;
      } else {
        return false;
      }
    }
    while (next_ < pattern_.size() && pattern_[next_] == '*') ++next_;
    return next_ == pattern_.size();
  }

 private:
  // Signed: Redis compares ranges of bytes above 127 as signed.
  int Fold(char c) const {
    if (ignore_case_ && c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    return static_cast<signed char>(c);
  }

  // Moves next_ to the next star. Returns the number of elements before it; it stops behind `most` + 1 of them.
  size_t SkipSegment(size_t most) {
    size_t size = 0;
    for (; size <= most && next_ < pattern_.size() && pattern_[next_] != '*'; ++size) MatchOne('\0');
    return size;
  }

  // Matches `byte` with the element at next_, and moves behind the element.
  bool MatchOne(char byte) {
    if (pattern_[next_] == '?') {
      ++next_;
      return true;
    }
    if (pattern_[next_] == '[') return MatchClass(byte);
    const bool escaped = pattern_[next_] == '\\' && next_ + 1 < pattern_.size();
    const size_t literal = next_ + (escaped ? 1 : 0);
    next_ = literal + 1;
    return Fold(pattern_[literal]) == Fold(byte);
  }

  bool MatchClass(char byte) {
    size_t i = next_ + 1;
    const bool negated = i < pattern_.size() && pattern_[i] == '^';
    if (negated) ++i;
    const int wanted = Fold(byte);
    bool found = false;
    for (; i < pattern_.size() && pattern_[i] != ']'; ++i) {
      if (pattern_[i] == '\\' && i + 1 < pattern_.size()) {
        ++i;
        found |= pattern_[i] == byte;
      } else if (i + 2 < pattern_.size() && pattern_[i + 1] == '-') {
        int low = static_cast<signed char>(pattern_[i]);
        int high = static_cast<signed char>(pattern_[i + 2]);
        if (low > high) std::swap(low, high);
        found |= wanted >= Fold(static_cast<char>(low)) && wanted <= Fold(static_cast<char>(high));
        i += 2;
      } else {
        found |= Fold(pattern_[i]) == wanted;
      }
    }
    next_ = i < pattern_.size() ? i + 1 : i;
    return found != negated;
  }

  std::string_view pattern_;
  std::string_view text_;
  bool ignore_case_;
  size_t next_ = 0;
};

}  // namespace

bool GlobMatches(std::string_view pattern, std::string_view text, LetterCase letters) {
  if (text.empty()) return pattern.empty();
  return Matcher(pattern, text, letters).Run();
}

}  // namespace cairn
