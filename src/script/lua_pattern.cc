// SPDX-License-Identifier: BSD-3-Clause
#include "script/lua_pattern.h"

#include <cctype>
#include <cstring>

namespace cairn {
namespace {

constexpr char kEscape = '%';

int Byte(char c) { return static_cast<unsigned char>(c); }
bool IsDigit(char c) { return std::isdigit(Byte(c)) != 0; }

// Whether `c` is in the class of this letter; a capital letter negates it.
bool IsOfClass(int c, int letter) {
  bool is = false;
  switch (std::tolower(letter)) {
    case 'a': is = std::isalpha(c) != 0; break;
    case 'c': is = std::iscntrl(c) != 0; break;
    case 'd': is = std::isdigit(c) != 0; break;
    case 'l': is = std::islower(c) != 0; break;
    case 'p': is = std::ispunct(c) != 0; break;
    case 's': is = std::isspace(c) != 0; break;
    case 'u': is = std::isupper(c) != 0; break;
    case 'w': is = std::isalnum(c) != 0; break;
    case 'x': is = std::isxdigit(c) != 0; break;
    case 'z': is = c == 0; break;
    default: return letter == c;
  }
  return std::islower(letter) != 0 ? is : !is;
}

// `set` points to the '[', `close` to the ']' that ends it.
bool IsInSet(int c, const char* set, const char* close) {
  const bool negated = set[1] == '^';
  const char* at = negated ? set + 2 : set + 1;
  for (; at < close; ++at) {
    if (*at == kEscape) {
      ++at;
      if (IsOfClass(c, Byte(*at))) return !negated;
    } else if (at[1] == '-' && at + 2 < close) {
      if (Byte(at[0]) <= c && c <= Byte(at[2])) return !negated;
      at += 2;
    } else if (Byte(*at) == c) {
      return !negated;
    }
  }
  return negated;
}

}  // namespace

LuaPattern::LuaPattern(lua_State* state, std::string_view subject, const char* pattern, Anchor anchor)
    : L(state), begin_(subject.data()), end_(subject.data() + subject.size()), pattern_(pattern) {
  anchored_ = anchor == Anchor::kAllowed && *pattern_ == '^';
  if (anchored_) ++pattern_;
}

const char* LuaPattern::MatchAt(const char* from) {
  captures_ = 0;
  return Match(from, pattern_);
}

void LuaPattern::Spend(size_t steps) {
  steps_ += steps;
  if (steps_ < kStepsPerCharge) return;
  ChargeWork(L, steps_);
  steps_ = 0;
}

const char* LuaPattern::Match(const char* at, const char* pattern) {
  if (++depth_ > kMostDepth) luaL_error(L, "pattern too complex");
  const char* const end = MatchHere(at, pattern);
  --depth_;
  return end;
}

const char* LuaPattern::MatchHere(const char* at, const char* pattern) {
  for (;;) {
    Spend(1);
    switch (*pattern) {
      case '\0': return at;
      case '(':
        return pattern[1] == ')' ? OpenCapture(at, pattern + 2, kPosition) : OpenCapture(at, pattern + 1, kUnfinished);
      case ')': return CloseCapture(at, pattern + 1);
      case '$':
        if (pattern[1] == '\0') return at == end_ ? at : nullptr;
        break;
      case kEscape:
        if (pattern[1] == 'b') {
          at = MatchBalance(at, pattern + 2);
          if (at == nullptr) return nullptr;
          pattern += 4;
          continue;
        }
        if (pattern[1] == 'f') {
          pattern += 2;
          if (!MatchFrontier(at, pattern)) return nullptr;
          continue;
        }
        if (IsDigit(pattern[1])) {
          at = MatchBackReference(at, pattern[1]);
          if (at == nullptr) return nullptr;
          pattern += 2;
          continue;
        }
        break;
      default: break;
    }
    bool goes_on = false;
    at = MatchItem(at, pattern, goes_on);
    if (!goes_on) return at;
  }
}

// Matches one item with its quantifier. `goes_on`: the caller must match the rest of the pattern, to which `pattern`
// was advanced, at the returned position.
const char* LuaPattern::MatchItem(const char* at, const char*& pattern, bool& goes_on) {
  const char* const item = pattern;
  const char* const item_end = ItemEnd(item);
  const bool matches = at < end_ && MatchOne(at, item, item_end);
  switch (*item_end) {
    case '*': return MatchMost(at, item, item_end);
    case '+': return matches ? MatchMost(at + 1, item, item_end) : nullptr;
    case '-': return MatchFewest(at, item, item_end);
    case '?':
      if (matches) {
        if (const char* const end = Match(at + 1, item_end + 1)) return end;
      }
      pattern = item_end + 1;
      goes_on = true;
      return at;
    default:
      if (!matches) return nullptr;
      pattern = item_end;
      goes_on = true;
      return at + 1;
  }
}

const char* LuaPattern::MatchMost(const char* at, const char* item, const char* item_end) {
  const char* most = at;
  while (most < end_ && MatchOne(most, item, item_end)) ++most;
  Spend(static_cast<size_t>(most - at));
  for (;; --most) {
    if (const char* const end = Match(most, item_end + 1)) return end;
    if (most == at) return nullptr;
  }
}

const char* LuaPattern::MatchFewest(const char* at, const char* item, const char* item_end) {
  for (;; ++at) {
    if (const char* const end = Match(at, item_end + 1)) return end;
    if (at >= end_ || !MatchOne(at, item, item_end)) return nullptr;
  }
}

const char* LuaPattern::OpenCapture(const char* at, const char* pattern, ptrdiff_t size) {
  if (captures_ >= LUA_MAXCAPTURES) luaL_error(L, "too many captures");
  capture_[captures_++] = {at, size};
  const char* const end = Match(at, pattern);
  if (end == nullptr) --captures_;
  return end;
}

const char* LuaPattern::CloseCapture(const char* at, const char* pattern) {
  int open = captures_ - 1;
  while (open >= 0 && capture_[open].size != kUnfinished) --open;
  if (open < 0) luaL_error(L, "invalid pattern capture");
  capture_[open].size = at - capture_[open].start;
  const char* const end = Match(at, pattern);
  if (end == nullptr) capture_[open].size = kUnfinished;
  return end;
}

const char* LuaPattern::MatchBalance(const char* at, const char* pattern) {
  if (pattern[0] == '\0' || pattern[1] == '\0') luaL_error(L, "unbalanced pattern");
  if (at >= end_ || *at != pattern[0]) return nullptr;
  int depth = 1;
  for (const char* next = at + 1; next < end_; ++next) {
    if (*next == pattern[1]) {
      if (--depth == 0) {
        Spend(static_cast<size_t>(next - at));
        return next + 1;
      }
    } else if (*next == pattern[0]) {
      ++depth;
    }
  }
  Spend(static_cast<size_t>(end_ - at));
  return nullptr;
}

const char* LuaPattern::MatchBackReference(const char* at, char digit) {
  const int index = digit - '1';
  if (index < 0 || index >= captures_ || capture_[index].size == kUnfinished) luaL_error(L, "invalid capture index");
  // A position capture has no text; 5.1 treats it as longer than any text.
  if (capture_[index].size == kPosition) return nullptr;
  const auto size = static_cast<size_t>(capture_[index].size);
  if (static_cast<size_t>(end_ - at) < size) return nullptr;
  Spend(size / 16);
  return std::memcmp(capture_[index].start, at, size) == 0 ? at + size : nullptr;
}

// Matches %f[set] and moves `pattern` from the set to behind it: the previous byte is not in the set, this one is. The
// bytes before and behind the subject count as zeros.
bool LuaPattern::MatchFrontier(const char* at, const char*& pattern) {
  if (*pattern != '[') luaL_error(L, "missing " LUA_QL("[") " after " LUA_QL("%%f") " in pattern");
  const char* const set = pattern;
  pattern = ItemEnd(set);
  const int before = at == begin_ ? 0 : Byte(at[-1]);
  const int here = at == end_ ? 0 : Byte(*at);
  return !IsInSet(before, set, pattern - 1) && IsInSet(here, set, pattern - 1);
}

bool LuaPattern::MatchOne(const char* at, const char* item, const char* item_end) const {
  const int c = Byte(*at);
  switch (*item) {
    case '.': return true;
    case kEscape: return IsOfClass(c, Byte(item[1]));
    case '[': return IsInSet(c, item, item_end - 1);
    default: return Byte(*item) == c;
  }
}

const char* LuaPattern::ItemEnd(const char* item) const {
  const char first = *item++;
  if (first == kEscape) {
    if (*item == '\0') luaL_error(L, "malformed pattern (ends with " LUA_QL("%%") ")");
    return item + 1;
  }
  if (first != '[') return item;
  if (*item == '^') ++item;
  do {  // a ']' in first place belongs to the set
    if (*item == '\0') luaL_error(L, "malformed pattern (missing " LUA_QL("]") ")");
    if (*item++ == kEscape && *item != '\0') ++item;
  } while (*item != ']');
  return item + 1;
}

void LuaPattern::PushCapture(int index, const char* from, const char* to) {
  if (index >= captures_) {
    if (index != 0) luaL_error(L, "invalid capture index");
    lua_pushlstring(L, from, static_cast<size_t>(to - from));
    return;
  }
  const Capture& capture = capture_[index];
  if (capture.size == kUnfinished) luaL_error(L, "unfinished capture");
  if (capture.size == kPosition) {
    lua_pushinteger(L, capture.start - begin_ + 1);
  } else {
    lua_pushlstring(L, capture.start, static_cast<size_t>(capture.size));
  }
}

int LuaPattern::PushCaptures(const char* from, const char* to, bool whole_if_none) {
  const int count = captures_ == 0 && whole_if_none ? 1 : captures_;
  luaL_checkstack(L, count, "too many captures");
  for (int i = 0; i < count; ++i) PushCapture(i, from, to);
  return count;
}

}  // namespace cairn
