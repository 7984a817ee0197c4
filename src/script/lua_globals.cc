// SPDX-License-Identifier: BSD-3-Clause
#include "script/lua_globals.h"

#include "script/lua_state.h"
#include "script/redis_api.h"
#include "script/sandbox.h"

namespace cairn {
namespace {

// Names the API on the top of the stack `redis` and, as in Valkey, `server` in the table below it. Pops the API.
void SetApi(lua_State* L) {
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "server");
  lua_setfield(L, -2, "redis");
}

}  // namespace

LuaGlobals::LuaGlobals(lua_State* L) : state_(L) {
  OpenLibraries(L);
  scripts_ = Make(PushScriptApi);
  functions_ = Make(PushFunctionApi);
  lua_newtable(L);
  PushLoadApi(L);
  RefuseUnknownFields(L);
  Protect(L);
  SetApi(L);
  RefuseUnknownFields(L);
  load_table_ = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_settop(L, 0);
}

// Makes a copy of the libraries with its own `redis`, and the globals that read from it.
LuaGlobals::Protected LuaGlobals::Make(void (*push_redis)(lua_State*)) {
  lua_State* L = state_;
  lua_newtable(L);
  lua_pushnil(L);
  while (lua_next(L, LUA_GLOBALSINDEX) != 0) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
  push_redis(L);
  Protect(L);
  SetApi(L);
  Protected made;
  lua_pushvalue(L, -1);
  made.table = luaL_ref(L, LUA_REGISTRYINDEX);
  MakeGlobals(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, made.table);
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, "_G");
  lua_pop(L, 1);
  made.globals = luaL_ref(L, LUA_REGISTRYINDEX);
  return made;
}

void LuaGlobals::PushScriptTable() const { lua_rawgeti(state_, LUA_REGISTRYINDEX, scripts_.table); }

void LuaGlobals::Use(int globals) const {
  lua_rawgeti(state_, LUA_REGISTRYINDEX, globals);
  lua_replace(state_, LUA_GLOBALSINDEX);
}

void LuaGlobals::ReadFunctionGlobalsFrom(int table) const {
  lua_rawgeti(state_, LUA_REGISTRYINDEX, functions_.globals);
  lua_getmetatable(state_, -1);
  lua_rawgeti(state_, LUA_REGISTRYINDEX, table);
  lua_setfield(state_, -2, "__index");
  lua_pop(state_, 2);
}

}  // namespace cairn
