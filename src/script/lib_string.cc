// SPDX-License-Identifier: BSD-3-Clause
//
// Replacements for functions of Lua's library `string` whose C versions are unbounded: the pattern functions, whose
// matcher recurses as deep as the pattern is long and cannot be stopped, and those whose run time exceeds the memory
// they allocate.
//
// Thread: that of the Lua state.
#include <cctype>
#include <cstring>

#include "script/lua_pattern.h"
#include "script/sandbox.h"

namespace cairn {
namespace {

constexpr size_t kBytesPerStep = 64;  // searched or copied per step charged

std::string_view CheckText(lua_State* L, int arg) {
  size_t size = 0;
  const char* text = luaL_checklstring(L, arg, &size);
  return {text, size};
}

// Converts a position that is negative from the end; 0: before the first byte.
ptrdiff_t FromStart(lua_Integer place, size_t size) {
  if (place < 0) place += static_cast<ptrdiff_t>(size) + 1;
  return place >= 0 ? place : 0;
}

bool IsPlain(const char* pattern) { return std::strpbrk(pattern, "^$*+?.([%-") == nullptr; }

int FindPlain(lua_State* L, std::string_view subject, size_t start, std::string_view wanted) {
  ChargeWork(L, (subject.size() - start) / kBytesPerStep);
  const void* found = wanted.empty()
                          ? subject.data() + start
                          : memmem(subject.data() + start, subject.size() - start, wanted.data(), wanted.size());
  if (found == nullptr) {
    lua_pushnil(L);
    return 1;
  }
  const ptrdiff_t place = static_cast<const char*>(found) - subject.data();
  lua_pushinteger(L, place + 1);
  lua_pushinteger(L, place + static_cast<ptrdiff_t>(wanted.size()));
  return 2;
}

int FindOrMatch(lua_State* L, bool finds) {
  const std::string_view subject = CheckText(L, 1);
  const std::string_view wanted = CheckText(L, 2);
  ptrdiff_t start = FromStart(luaL_optinteger(L, 3, 1), subject.size()) - 1;
  if (start < 0) start = 0;
  if (static_cast<size_t>(start) > subject.size()) start = static_cast<ptrdiff_t>(subject.size());
  if (finds && (lua_toboolean(L, 4) != 0 || IsPlain(wanted.data()))) {
    return FindPlain(L, subject, static_cast<size_t>(start), wanted);
  }
  LuaPattern pattern(L, subject, wanted.data());
  for (const char* from = pattern.begin() + start; from <= pattern.end(); ++from) {
    if (const char* const to = pattern.MatchAt(from)) {
      if (!finds) return pattern.PushCaptures(from, to, true);
      lua_pushinteger(L, from - pattern.begin() + 1);
      lua_pushinteger(L, to - pattern.begin());
      return pattern.PushCaptures(from, to, false) + 2;
    }
    if (pattern.anchored()) break;
  }
  lua_pushnil(L);
  return 1;
}

int Find(lua_State* L) { return FindOrMatch(L, true); }
int Match(lua_State* L) { return FindOrMatch(L, false); }

// The upvalues: subject, pattern, next position.
int NextMatch(lua_State* L) {
  const std::string_view subject = TextAt(L, lua_upvalueindex(1));
  LuaPattern pattern(L, subject, lua_tostring(L, lua_upvalueindex(2)), LuaPattern::Anchor::kNone);
  for (const char* from = pattern.begin() + lua_tointeger(L, lua_upvalueindex(3)); from <= pattern.end(); ++from) {
    const char* const to = pattern.MatchAt(from);
    if (to == nullptr) continue;
    lua_pushinteger(L, to - pattern.begin() + (to == from ? 1 : 0));
    lua_replace(L, lua_upvalueindex(3));
    return pattern.PushCaptures(from, to, true);
  }
  return 0;
}

int GMatch(lua_State* L) {
  luaL_checkstring(L, 1);
  luaL_checkstring(L, 2);
  lua_settop(L, 2);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, NextMatch, 3);
  return 1;
}

// Appends the replacement text and expands %0 to %9.
void AddText(lua_State* L, LuaPattern& pattern, luaL_Buffer& out, const char* from, const char* to) {
  size_t size = 0;
  const char* text = lua_tolstring(L, 3, &size);
  for (size_t i = 0; i < size; ++i) {
    if (text[i] != '%') {
      luaL_addchar(&out, text[i]);
      continue;
    }
    const char next = text[++i];  // at the end this is the terminating zero
    if (std::isdigit(static_cast<unsigned char>(next)) == 0) {
      luaL_addchar(&out, next);
    } else if (next == '0') {
      luaL_addlstring(&out, from, static_cast<size_t>(to - from));
    } else {
      pattern.PushCapture(next - '1', from, to);
      luaL_addvalue(&out);
    }
  }
}

void AddReplacement(lua_State* L, LuaPattern& pattern, luaL_Buffer& out, const char* from, const char* to) {
  const int type = lua_type(L, 3);
  if (type == LUA_TFUNCTION) {
    lua_pushvalue(L, 3);
    const int count = pattern.PushCaptures(from, to, true);
    lua_call(L, count, 1);
  } else if (type == LUA_TTABLE) {
    pattern.PushCapture(0, from, to);
    lua_gettable(L, 3);
  } else {
    AddText(L, pattern, out, from, to);
    return;
  }
  if (lua_toboolean(L, -1) == 0) {  // keep the match
    lua_pop(L, 1);
    lua_pushlstring(L, from, static_cast<size_t>(to - from));
  } else if (lua_isstring(L, -1) == 0) {
    luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
  }
  luaL_addvalue(&out);
}

int GSub(lua_State* L) {
  const std::string_view subject = CheckText(L, 1);
  const char* const wanted = luaL_checkstring(L, 2);
  const int type = lua_type(L, 3);
  const lua_Integer most = luaL_optinteger(L, 4, static_cast<lua_Integer>(subject.size()) + 1);
  luaL_argcheck(L, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
                "string/function/table expected");
  LuaPattern pattern(L, subject, wanted);
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  const char* from = pattern.begin();
  lua_Integer count = 0;
  while (count < most) {
    const char* const to = pattern.MatchAt(from);
    if (to != nullptr) {
      ++count;
      AddReplacement(L, pattern, out, from, to);
    }
    if (to != nullptr && to > from) {
      from = to;
    } else if (from < pattern.end()) {
      luaL_addchar(&out, *from++);
    } else {
      break;
    }
    if (pattern.anchored()) break;
  }
  luaL_addlstring(&out, from, static_cast<size_t>(pattern.end() - from));
  luaL_pushresult(&out);
  lua_pushinteger(L, count);
  return 2;
}

int Rep(lua_State* L) {
  const std::string_view text = CheckText(L, 1);
  const lua_Integer wanted = luaL_checkint(L, 2);
  if (wanted <= 0 || text.empty()) {
    lua_pushliteral(L, "");
    return 1;
  }
  const auto count = static_cast<size_t>(wanted);
  if (text.size() > SIZE_MAX / 2 / count) return luaL_error(L, "resulting string too large");
  const size_t size = text.size() * count;
  auto* bytes = static_cast<char*>(lua_newuserdata(L, size));
  std::memcpy(bytes, text.data(), text.size());
  for (size_t filled = text.size(); filled < size;) {
    const size_t more = filled < size - filled ? filled : size - filled;
    std::memcpy(bytes + filled, bytes, more);
    filled += more;
  }
  lua_pushlstring(L, bytes, size);
  return 1;
}

int Sub(lua_State* L) {
  const std::string_view text = CheckText(L, 1);
  ptrdiff_t first = FromStart(luaL_checkinteger(L, 2), text.size());
  ptrdiff_t last = FromStart(luaL_optinteger(L, 3, -1), text.size());
  if (first < 1) first = 1;
  if (last > static_cast<ptrdiff_t>(text.size())) last = static_cast<ptrdiff_t>(text.size());
  if (first > last) {
    lua_pushliteral(L, "");
    return 1;
  }
  const auto size = static_cast<size_t>(last - first + 1);
  ChargeWork(L, size / kBytesPerStep);
  lua_pushlstring(L, text.data() + first - 1, size);
  return 1;
}

}  // namespace

void ReplaceStringFunctions(lua_State* L) {
  constexpr luaL_Reg kFunctions[] = {{"find", Find}, {"match", Match}, {"gmatch", GMatch}, {"gfind", GMatch},
                                     {"gsub", GSub}, {"rep", Rep},     {"sub", Sub},       {nullptr, nullptr}};
  luaL_register(L, LUA_STRLIBNAME, kFunctions);
  lua_pop(L, 1);
}

}  // namespace cairn
