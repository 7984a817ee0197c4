// SPDX-License-Identifier: BSD-3-Clause
//
// LuaGlobals: the tables of globals in a Lua state. Scripts and functions have different ones, both protected
// (script/sandbox.h):
//   scripts              the libraries, the whole of redis, KEYS, ARGV
//   functions            the libraries, redis without the parts for scripts only
//   loading a library    no libraries, redis.register_function and the log
// A library's code has the third while it is loaded and the second afterwards, as in Redis. Its table of globals is the
// same; only the table that it reads from is exchanged.
//
// Thread: that of the state.
#pragma once

struct lua_State;

namespace cairn {

class LuaGlobals {
 public:
  // REQUIRES: `L` is a new state. Opens the libraries.
  explicit LuaGlobals(lua_State* L);

  // Code compiled from now on, also by loadstring, has the globals of scripts.
  void UseForScripts() const { Use(scripts_.globals); }
  void UseForFunctions() const { Use(functions_.globals); }
  // Pushes the table that scripts read from, where KEYS and ARGV are set.
  void PushScriptTable() const;
  // Selects the table that the code of libraries reads from.
  void ShowLoading() const { ReadFunctionGlobalsFrom(load_table_); }
  void ShowFunctions() const { ReadFunctionGlobalsFrom(functions_.table); }

 private:
  // References in Lua's registry.
  struct Protected {
    int globals = 0;  // the globals of code
    int table = 0;    // the table they read from
  };

  Protected Make(void (*push_redis)(lua_State*));
  void Use(int globals) const;
  void ReadFunctionGlobalsFrom(int table) const;

  lua_State* const state_;
  Protected scripts_;
  Protected functions_;
  int load_table_ = 0;
};

}  // namespace cairn
