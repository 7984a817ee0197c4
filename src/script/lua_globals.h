// SPDX-License-Identifier: BSD-3-Clause
//
// LuaGlobals: the tables of globals in a Lua state. Scripts and functions see different ones, both protected
// (script/sandbox.h):
//   scripts              the libraries, redis with everything, KEYS, ARGV
//   functions            the libraries, redis without what is for scripts only
//   a library's loading  no libraries, redis.register_function and the log
// A library's code sees the third while it is loaded and the second afterwards, as in Redis: its table of globals is
// one, and what that reads from is exchanged.
//
// Thread: the state's.
#pragma once

struct lua_State;

namespace cairn {

class LuaGlobals {
 public:
  // REQUIRES: `L` is a new state, of which the libraries are opened here.
  explicit LuaGlobals(lua_State* L);

  // Code that is compiled from now on, also by loadstring, sees what scripts see.
  void UseForScripts() const { Use(scripts_.globals); }
  void UseForFunctions() const { Use(functions_.globals); }
  // Pushes the table that scripts read from, where KEYS and ARGV are set.
  void PushScriptTable() const;
  // What the code of libraries reads from.
  void ShowLoading() const { ReadFunctionGlobalsFrom(load_table_); }
  void ShowFunctions() const { ReadFunctionGlobalsFrom(functions_.table); }

 private:
  // References in Lua's registry.
  struct Protected {
    int globals = 0;  // what code sees
    int table = 0;    // what that reads from
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
