// SPDX-License-Identifier: BSD-3-Clause
//
// LuaPattern: Lua 5.1's patterns (Reference Manual, 5.4.1), with the bounds that the C library lacks. The matcher
// recurses at most kMostDepth deep and charges its steps to the run, so a pattern that backtracks forever is stopped.
//
// As in 5.1 a pattern ends at its first zero byte; `%z` matches one.
//
// Thread: that of the Lua state. Errors are Lua's, a longjmp, so no object here has a destructor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "script/lua_state.h"

namespace cairn {

class LuaPattern {
 public:
  enum class Anchor : unsigned char { kAllowed, kNone };  // kNone: a '^' at the start is an ordinary character

  // `pattern` ends with a zero byte. Both strings must stay on L's stack.
  LuaPattern(lua_State* L, std::string_view subject, const char* pattern, Anchor anchor = Anchor::kAllowed);

  bool anchored() const { return anchored_; }  // the caller tries only one position
  const char* begin() const { return begin_; }
  const char* end() const { return end_; }

  // Returns the end of a match that starts at `from`; null if there is none.
  const char* MatchAt(const char* from);
  // Pushes the captures of the last match, or the whole match if there are none and `whole_if_none`. Returns their
  // number.
  int PushCaptures(const char* from, const char* to, bool whole_if_none);
  // Pushes the capture with this index, from 0.
  void PushCapture(int index, const char* from, const char* to);

 private:
  static constexpr int kMostDepth = 1000;
  static constexpr ptrdiff_t kUnfinished = -1;
  static constexpr ptrdiff_t kPosition = -2;
  static constexpr uint32_t kStepsPerCharge = 1000;

  struct Capture {
    const char* start;
    ptrdiff_t size;
  };

  void Spend(size_t steps);
  const char* Match(const char* at, const char* pattern);
  const char* MatchHere(const char* at, const char* pattern);
  const char* MatchItem(const char* at, const char*& pattern, bool& goes_on);
  const char* MatchMost(const char* at, const char* item, const char* item_end);
  const char* MatchFewest(const char* at, const char* item, const char* item_end);
  const char* OpenCapture(const char* at, const char* pattern, ptrdiff_t size);
  const char* CloseCapture(const char* at, const char* pattern);
  const char* MatchBalance(const char* at, const char* pattern);
  const char* MatchBackReference(const char* at, char digit);
  bool MatchFrontier(const char* at, const char*& pattern);
  bool MatchOne(const char* at, const char* item, const char* item_end) const;
  const char* ItemEnd(const char* item) const;

  lua_State* const L;
  const char* const begin_;
  const char* const end_;
  const char* pattern_;
  bool anchored_ = false;
  int depth_ = 0;
  size_t steps_ = 0;
  int captures_ = 0;
  Capture capture_[LUA_MAXCAPTURES];
};

}  // namespace cairn
