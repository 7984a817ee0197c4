// SPDX-License-Identifier: BSD-3-Clause
#include "script/sandbox.h"

#include <climits>
#include <cmath>
#include <ctime>

#include "script/lua_vm.h"

namespace cairn {
namespace {

// Keys (by address) in a front's metatable: kRealKey has the real table, kShownKey the result of getmetatable.
const char kRealKey = 0;
const char kShownKey = 0;

constexpr char kReadonlyText[] = "Attempt to modify a readonly table";
constexpr const char* kRemoved[] = {"dofile", "loadfile", "print", "newproxy", "setfenv", "getfenv"};
constexpr const char* kProtected[] = {"string",   "table", "math",   "coroutine", "cjson",
                                      "cmsgpack", "bit",   "struct", "os"};

void* KeyOf(const char& key) { return const_cast<char*>(&key); }

// Pushes the front's value for `key` and returns true; pushes nothing if the value is not a front.
bool PushKept(lua_State* L, int index, const char& key) {
  if (!lua_istable(L, index) || !lua_getmetatable(L, index)) return false;
  lua_pushlightuserdata(L, KeyOf(kRealKey));
  lua_rawget(L, -2);
  const bool is_front = lua_istable(L, -1);
  lua_pop(L, 1);
  if (!is_front) {
    lua_pop(L, 1);
    return false;
  }
  lua_pushlightuserdata(L, KeyOf(key));
  lua_rawget(L, -2);
  lua_remove(L, -2);
  return true;
}

// For an assignment, for which Lua itself would raise an error with the position.
int RefuseWrite(lua_State* L) { return luaL_error(L, kReadonlyText); }

int RefuseUnknown(lua_State* L) {
  const char* name = lua_tostring(L, 2);
  return luaL_error(L, "Script attempted to access nonexistent global variable '%s'", name == nullptr ? "?" : name);
}

// ---- base functions that know fronts

int Next(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  if (PushKept(L, 1, kRealKey)) lua_replace(L, 1);
  return lua_next(L, 1) != 0 ? 2 : (lua_pushnil(L), 1);
}

int Pairs(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_pushcfunction(L, Next);
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}

// Lua's own version counts in an int and does not check for overflow.
int Unpack(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  const int64_t first = luaL_optint(L, 2, 1);
  const int64_t last = lua_isnoneornil(L, 3) ? static_cast<int64_t>(lua_objlen(L, 1)) : luaL_checkint(L, 3);
  if (first > last) return 0;
  const int64_t count = last - first + 1;
  if (count >= INT_MAX || !lua_checkstack(L, static_cast<int>(count))) {
    return luaL_error(L, "too many results to unpack");
  }
  ChargeWork(L, static_cast<uint64_t>(count));
  for (int64_t i = first; i <= last; ++i) lua_rawgeti(L, 1, static_cast<int>(i));
  return static_cast<int>(count);
}

int RawGet(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkany(L, 2);
  lua_settop(L, 2);
  if (PushKept(L, 1, kRealKey)) lua_replace(L, 1);
  lua_rawget(L, 1);
  return 1;
}

int RawSet(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkany(L, 2);
  luaL_checkany(L, 3);
  lua_settop(L, 3);
  CheckWritable(L, 1);
  lua_rawset(L, 1);
  return 1;
}

int SetMetatable(lua_State* L) {
  const int type = lua_type(L, 2);
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argcheck(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table expected");
  CheckWritable(L, 1);
  if (luaL_getmetafield(L, 1, "__metatable")) return luaL_error(L, "cannot change a protected metatable");
  lua_settop(L, 2);
  lua_setmetatable(L, 1);
  return 1;
}

int GetMetatable(lua_State* L) {
  luaL_checkany(L, 1);
  if (PushKept(L, 1, kShownKey)) return 1;
  if (!lua_getmetatable(L, 1)) {
    lua_pushnil(L);
    return 1;
  }
  luaL_getmetafield(L, 1, "__metatable");
  return 1;
}

// ---- code from text

// Compiles the text on the top of the stack, with the name at `name`. Pushes nil and a message on failure.
int Compile(lua_State* L, int name) {
  const std::string_view code = TextAt(L, -1);
  LuaVm& vm = LuaVm::Of(L);
  const bool loaded = vm.LoadCode(L, code, luaL_optstring(L, name, code.data()));
  if (vm.is_ending()) return LuaVm::RaiseEnd(L);
  if (loaded) return 1;
  lua_pushnil(L);
  lua_insert(L, -2);
  return 2;
}

int LoadString(lua_State* L) {
  luaL_checkstring(L, 1);
  lua_settop(L, 2);
  lua_pushvalue(L, 1);
  return Compile(L, 2);
}

int Load(lua_State* L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 2);
  if (lua_isnil(L, 2)) {
    lua_pushliteral(L, "=(load)");
    lua_replace(L, 2);
  }
  lua_pushliteral(L, "");
  for (;;) {
    lua_pushvalue(L, 1);
    lua_call(L, 0, 1);
    if (lua_isnil(L, -1)) break;
    if (!lua_isstring(L, -1)) return luaL_error(L, "reader function must return a string");
    if (lua_objlen(L, -1) == 0) break;
    lua_concat(L, 2);
  }
  lua_pop(L, 1);
  return Compile(L, 2);
}

// ---- calls that catch errors

// The steps that the collector's scan of this many bytes costs.
constexpr size_t kCollectedBytesPerStep = 32;

// Collects garbage: Lua 5.1 does not do so when an allocation fails.
void MakeRoom(lua_State* L) {
  LuaVm& vm = LuaVm::Of(L);
  lua_gc(L, LUA_GCCOLLECT, 0);
  if (!vm.is_ending()) ChargeWork(L, vm.bytes() / kCollectedBytesPerStep);
}

// For scripts, an error that is a table, as failed commands raise it, is replaced by its text, as before Redis 7.
int Pcall(lua_State* L) {
  luaL_checkany(L, 1);
  const int failed = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  if (failed == LUA_ERRMEM) MakeRoom(L);
  if (LuaVm::Of(L).is_ending()) return LuaVm::RaiseEnd(L);
  if (failed != 0 && lua_istable(L, -1)) {
    lua_getfield(L, -1, "err");
    if (lua_isstring(L, -1)) {
      lua_replace(L, -2);
    } else {
      lua_pop(L, 1);
    }
  }
  lua_pushboolean(L, failed == 0);
  lua_insert(L, 1);
  return lua_gettop(L);
}

// Wraps the script's handler, its upvalue. A handler that runs while the run is ending could loop forever, because the
// hook does not interrupt code that it called itself.
int HandleError(lua_State* L) {
  if (LuaVm::Of(L).is_ending()) return 1;
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

int Xpcall(lua_State* L) {
  luaL_checkany(L, 2);
  lua_settop(L, 2);
  lua_pushcclosure(L, HandleError, 1);
  lua_insert(L, 1);  // below the function
  const int failed = lua_pcall(L, 0, LUA_MULTRET, 1);
  if (failed == LUA_ERRMEM) MakeRoom(L);
  if (LuaVm::Of(L).is_ending()) return LuaVm::RaiseEnd(L);
  lua_pushboolean(L, failed == 0);
  lua_replace(L, 1);
  return lua_gettop(L);
}

// ---- coroutines: 5.1 does not count how deeply they resume one another

// Calls the function in the upvalue with all arguments.
int CallUpvalue(lua_State* L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

// Runs the C function in the upvalue, which has no upvalues, in its caller's frame, so that an error names that caller.
int RunUpvalue(lua_State* L) { return lua_tocfunction(L, lua_upvalueindex(1))(L); }

// Wraps Lua's resume, its upvalue.
int Resume(lua_State* L) {
  LuaVm& vm = LuaVm::Of(L);
  vm.CheckStack(L);
  const int results = RunUpvalue(L);
  return vm.is_ending() ? LuaVm::RaiseEnd(L) : results;
}

// Wraps the result of Lua's coroutine.wrap.
int ResumeWrapped(lua_State* L) {
  LuaVm::Of(L).CheckStack(L);
  return CallUpvalue(L);
}

int WrapCoroutine(lua_State* L) {
  RunUpvalue(L);
  lua_pushcclosure(L, ResumeWrapped, 1);
  return 1;
}

// ---- garbage

int CollectGarbage(lua_State* L) {
  LuaVm& vm = LuaVm::Of(L);
  ChargeWork(L, vm.bytes() / kCollectedBytesPerStep);
  if (lua_gettop(L) > 0) vm.NoteCollectorChanged();
  return RunUpvalue(L);
}

// ---- numbers

// Wraps Lua's tonumber.
int ToNumber(lua_State* L) {
  constexpr size_t kBytesPerStep = 16;
  if (lua_type(L, 1) == LUA_TSTRING) ChargeWork(L, lua_objlen(L, 1) / kBytesPerStep);
  return RunUpvalue(L);
}

// Like C's lrand48, so that a seed gives the same numbers as in Redis.
int RandomNumber(lua_State* L) {
  LuaVm& vm = LuaVm::Of(L);
  if (vm.run() == nullptr) return luaL_error(L, "math.random can only be called inside a script invocation");
  const lua_Number r = static_cast<lua_Number>(vm.NextRandom() % INT_MAX) / static_cast<lua_Number>(INT_MAX);
  switch (lua_gettop(L)) {
    case 0: lua_pushnumber(L, r); return 1;
    case 1: {
      const int upper = luaL_checkint(L, 1);
      luaL_argcheck(L, 1 <= upper, 1, "interval is empty");
      lua_pushnumber(L, std::floor(r * upper) + 1);
      return 1;
    }
    case 2: {
      const int lower = luaL_checkint(L, 1);
      const int upper = luaL_checkint(L, 2);
      luaL_argcheck(L, lower <= upper, 2, "interval is empty");
      lua_pushnumber(L, std::floor(r * (static_cast<lua_Number>(upper) - lower + 1)) + lower);
      return 1;
    }
    default: return luaL_error(L, "wrong number of arguments");
  }
}

int SeedRandom(lua_State* L) {
  LuaVm& vm = LuaVm::Of(L);
  if (vm.run() == nullptr) return luaL_error(L, "math.randomseed can only be called inside a script invocation");
  vm.SeedRandom(static_cast<int32_t>(luaL_checkint(L, 1)));
  return 0;
}

// ---- time

// The processor time of the process. Scripts measure with it, as in Valkey; the rest of the library is left out.
int Clock(lua_State* L) {
  lua_pushnumber(L, static_cast<lua_Number>(std::clock()) / CLOCKS_PER_SEC);
  return 1;
}

int OpenOs(lua_State* L) {
  lua_newtable(L);
  lua_pushcfunction(L, Clock);
  lua_setfield(L, -2, "clock");
  return 1;
}

void Open(lua_State* L, const char* name, lua_CFunction open) {
  lua_pushcfunction(L, open);
  lua_pushstring(L, name);
  lua_call(L, 1, 0);
}

void OpenAs(lua_State* L, const char* name, lua_CFunction open) {
  lua_pushcfunction(L, open);
  lua_call(L, 0, 1);
  lua_setglobal(L, name);
}

// Replaces a field of a global table by a function that has the old one as its upvalue.
void Wrap(lua_State* L, const char* table, const char* field, lua_CFunction function) {
  lua_getglobal(L, table);
  lua_getfield(L, -1, field);
  lua_pushcclosure(L, function, 1);
  lua_setfield(L, -2, field);
  lua_pop(L, 1);
}

// The same for a global function.
void WrapGlobal(lua_State* L, const char* name, lua_CFunction function) {
  lua_getglobal(L, name);
  lua_pushcclosure(L, function, 1);
  lua_setglobal(L, name);
}

void ReplaceBaseFunctions(lua_State* L) {
  for (const char* name : kRemoved) {
    lua_pushnil(L);
    lua_setglobal(L, name);
  }
  constexpr luaL_Reg kReplaced[] = {
      {"next", Next},
      {"pairs", Pairs},
      {"rawget", RawGet},
      {"rawset", RawSet},
      {"load", Load},
      {"setmetatable", SetMetatable},
      {"getmetatable", GetMetatable},
      {"loadstring", LoadString},
      {"pcall", Pcall},
      {"xpcall", Xpcall},
      {"unpack", Unpack},
  };
  for (const luaL_Reg& entry : kReplaced) lua_register(L, entry.name, entry.func);
  WrapGlobal(L, "collectgarbage", CollectGarbage);
  WrapGlobal(L, "tonumber", ToNumber);
  ReplaceStringFunctions(L);
  ReplaceTableFunctions(L);
  Wrap(L, "coroutine", "resume", Resume);
  Wrap(L, "coroutine", "wrap", WrapCoroutine);
  Wrap(L, "math", "random", RandomNumber);
  Wrap(L, "math", "randomseed", SeedRandom);
}

// The metatable of strings is visible to scripts through getmetatable, so it is protected too.
void ProtectStrings(lua_State* L) {
  lua_pushliteral(L, "");
  lua_newtable(L);
  lua_getglobal(L, "string");
  lua_setfield(L, -2, "__index");
  lua_pushvalue(L, -1);
  Protect(L);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}

}  // namespace

void CheckWritable(lua_State* L, int index) {
  if (!PushKept(L, index, kRealKey)) return;
  lua_pushstring(L, kReadonlyText);
  lua_error(L);
}

void Protect(lua_State* L) {
  lua_newtable(L);  // the front
  lua_newtable(L);  // its metatable
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, RefuseWrite);
  lua_setfield(L, -2, "__newindex");
  lua_pushlightuserdata(L, KeyOf(kRealKey));
  lua_pushvalue(L, -4);
  lua_rawset(L, -3);
  lua_setmetatable(L, -2);
  lua_remove(L, -2);
}

void RefuseUnknownFields(lua_State* L) {
  lua_newtable(L);
  lua_pushcfunction(L, RefuseUnknown);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
}

void MakeGlobals(lua_State* L) {
  RefuseUnknownFields(L);
  Protect(L);
  lua_getmetatable(L, -1);
  lua_pushlightuserdata(L, KeyOf(kShownKey));
  lua_newtable(L);
  lua_pushcfunction(L, RefuseUnknown);
  lua_setfield(L, -2, "__index");
  Protect(L);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

void OpenLibraries(lua_State* L) {
  Open(L, "", luaopen_base);
  Open(L, LUA_TABLIBNAME, luaopen_table);
  Open(L, LUA_STRLIBNAME, luaopen_string);
  Open(L, LUA_MATHLIBNAME, luaopen_math);
  OpenAs(L, "cjson", OpenJson);
  OpenAs(L, "bit", OpenBit);
  OpenAs(L, "struct", OpenStruct);
  OpenAs(L, "cmsgpack", OpenMsgpack);
  OpenAs(L, "os", OpenOs);
  ReplaceBaseFunctions(L);
  for (const char* name : kProtected) {
    lua_getglobal(L, name);
    Protect(L);
    lua_setglobal(L, name);
  }
  ProtectStrings(L);
}

}  // namespace cairn
