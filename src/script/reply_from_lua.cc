// SPDX-License-Identifier: BSD-3-Clause
#include "script/reply_from_lua.h"

#include <string>

namespace cairn {
namespace {

constexpr int kSlotsPerLevel = 8;

// Leaves table[name] of the table on the top of the stack if it has this type; else nothing.
bool PushField(lua_State* L, const char* name, int type) {
  lua_pushstring(L, name);
  lua_rawget(L, -2);
  if (lua_type(L, -1) == type) return true;
  lua_pop(L, 1);
  return false;
}

std::string WithoutLineEnds(std::string_view text) {
  std::string safe(text);
  for (char& c : safe) c = c == '\r' || c == '\n' ? ' ' : c;
  return safe;
}

// With the verbatim_string's table on the top.
bool ReplyVerbatim(lua_State* L, Reply& reply) {
  if (!PushField(L, "format", LUA_TSTRING)) return false;
  std::string format(TextAt(L, -1));
  lua_pop(L, 1);
  if (!PushField(L, "string", LUA_TSTRING)) return false;
  format.resize(3, ' ');
  reply.Verbatim(format, TextAt(L, -1));
  lua_pop(L, 1);
  return true;
}

size_t CountEntries(lua_State* L) {
  size_t count = 0;
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    lua_pop(L, 1);
    ++count;
  }
  return count;
}

// With the map's or set's table on the top.
void ReplyEntries(lua_State* L, int protocol, bool with_values, Reply& reply) {
  const size_t count = CountEntries(L);
  if (with_values) {
    reply.Map(count);
  } else {
    reply.Set(count);
  }
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    lua_pushvalue(L, -2);
    ReplyFromLua(L, protocol, reply);
    if (with_values) {
      ReplyFromLua(L, protocol, reply);
    } else {
      lua_pop(L, 1);
    }
  }
}

void ReplyArray(lua_State* L, int protocol, Reply& reply) {
  int count = 0;
  for (;; ++count) {
    lua_rawgeti(L, -1, count + 1);
    const bool ends = lua_isnil(L, -1);
    lua_pop(L, 1);
    if (ends) break;
  }
  reply.Array(static_cast<size_t>(count));
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, -1, i);
    ReplyFromLua(L, protocol, reply);
  }
}

// True: the table says what it is, and that was replied.
bool ReplyTyped(lua_State* L, int protocol, Reply& reply) {
  if (PushField(L, "err", LUA_TSTRING)) {
    reply.Error(TextAt(L, -1));
  } else if (PushField(L, "ok", LUA_TSTRING)) {
    reply.Simple(WithoutLineEnds(TextAt(L, -1)));
  } else if (PushField(L, "double", LUA_TNUMBER)) {
    reply.Double(lua_tonumber(L, -1));
  } else if (PushField(L, "big_number", LUA_TSTRING)) {
    reply.BigNumber(WithoutLineEnds(TextAt(L, -1)));
  } else if (PushField(L, "verbatim_string", LUA_TTABLE) && ReplyVerbatim(L, reply)) {
  } else if (PushField(L, "map", LUA_TTABLE)) {
    ReplyEntries(L, protocol, true, reply);
  } else if (PushField(L, "set", LUA_TTABLE)) {
    ReplyEntries(L, protocol, false, reply);
  } else {
    return false;
  }
  return true;
}

void ReplyTable(lua_State* L, int protocol, Reply& reply) {
  const int top = lua_gettop(L);
  const bool replied = ReplyTyped(L, protocol, reply);
  lua_settop(L, top);
  if (!replied) ReplyArray(L, protocol, reply);
}

}  // namespace

void ReplyFromLua(lua_State* L, int protocol, Reply& reply) {
  if (!lua_checkstack(L, kSlotsPerLevel)) {
    reply.Error("ERR reached lua stack limit");
    lua_pop(L, 1);
    return;
  }
  switch (lua_type(L, -1)) {
    case LUA_TSTRING: reply.Bulk(TextAt(L, -1)); break;
    case LUA_TNUMBER: reply.Integer(static_cast<int64_t>(lua_tonumber(L, -1))); break;
    case LUA_TBOOLEAN:
      if (protocol == 3) {
        reply.Bool(lua_toboolean(L, -1) != 0);
      } else if (lua_toboolean(L, -1) != 0) {
        reply.Integer(1);
      } else {
        reply.Null();
      }
      break;
    case LUA_TTABLE: ReplyTable(L, protocol, reply); break;
    default: reply.Null(); break;
  }
  lua_pop(L, 1);
}

}  // namespace cairn
