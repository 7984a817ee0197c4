// SPDX-License-Identifier: BSD-3-Clause
//
// Sandbox: the part of Lua that scripts can use: the libraries string, table, math, coroutine, cjson, cmsgpack, bit and
// struct, and the harmless base functions. A script cannot change any of these tables.
//
// A protected table is an empty one, a *front*, whose metatable reads the real table and refuses writes. The base
// functions that bypass metatables (next, pairs, rawget, rawset, setmetatable, getmetatable, the writing ones of
// `table`) are replaced by versions that know fronts. Byte code is refused: it can break out of the interpreter.
//
// pcall, xpcall and coroutine.resume do not catch an error that ends the run (LuaVm::is_ending).
#pragma once

#include "script/lua_state.h"

namespace cairn {

// Opens the libraries as globals of the state, and replaces or removes unsafe functions.
void OpenLibraries(lua_State* L);

// Replaces the table on the top of the stack by a front of it.
void Protect(lua_State* L);

// Replaces the table on the top of the stack by a read-only table of globals made from it. Reading a global that does
// not exist is an error.
void MakeGlobals(lua_State* L);

// Makes reading a missing field of the table on the top of the stack an error.
void RefuseUnknownFields(lua_State* L);

// Replace some functions of a library, whose table is a global, by this server's.
void ReplaceStringFunctions(lua_State* L);
void ReplaceTableFunctions(lua_State* L);

// Raises an error if the value at `index` is a front.
void CheckWritable(lua_State* L, int index);

// Libraries; each pushes its table.
int OpenStruct(lua_State* L);
int OpenMsgpack(lua_State* L);
int OpenBit(lua_State* L);
int OpenJson(lua_State* L);

// cjson.decode, with the settings (JsonSettings) as its upvalue.
int DecodeJson(lua_State* L);

}  // namespace cairn
