// SPDX-License-Identifier: BSD-3-Clause
//
// Sandbox: what of Lua a script gets to see. The libraries string, table, math, coroutine, cjson, cmsgpack, bit and
// struct, the harmless base functions, and no table among them that it could change.
//
// A protected table is an empty one, a *front*, whose metatable reads the real table and refuses writes. The base
// functions that look past metatables (next, pairs, rawget, rawset, setmetatable, getmetatable, those of `table` that
// write) are replaced by ones that know fronts. Byte code is refused: it can break out of the interpreter.
//
// pcall, xpcall and coroutine.resume let an error through that ends the run (LuaVm::is_ending).
#pragma once

#include "script/lua_state.h"

namespace cairn {

// Opens the libraries into the state's globals and replaces or removes what is not to be had.
void OpenLibraries(lua_State* L);

// Replaces the table on the top of the stack by a front of it.
void Protect(lua_State* L);

// Leaves a table of globals that can be read only, made of the table on the top of the stack, whose place it takes. A
// global that does not exist is an error.
void MakeGlobals(lua_State* L);

// Reading a field that is not there becomes an error, for the table on the top of the stack.
void RefuseUnknownFields(lua_State* L);

// Put this server's functions in the place of some of the library's own, whose table is a global.
void ReplaceStringFunctions(lua_State* L);
void ReplaceTableFunctions(lua_State* L);

// An error when the value at `index` is a front.
void CheckWritable(lua_State* L, int index);

// Libraries; each leaves its table.
int OpenStruct(lua_State* L);
int OpenMsgpack(lua_State* L);
int OpenBit(lua_State* L);
int OpenJson(lua_State* L);

// cjson.decode, with the settings (JsonSettings) as its upvalue.
int DecodeJson(lua_State* L);

}  // namespace cairn
