// SPDX-License-Identifier: BSD-3-Clause
//
// Converts the value that a script returns to the client's reply. A number loses its fraction. A table is an array up
// to its first nil, unless it has one of the fields err, ok, double, big_number, verbatim_string, map and set, which
// name the reply's type. Fields are read without metatables, so no code of the script runs.
#pragma once

#include "resp/reply.h"
#include "script/lua_state.h"

namespace cairn {

class LuaVm;

// Replies with the value on the top of the stack, the result of `vm`'s run, and pops it. A value that would take more
// than `most_bytes`, or is nested too deeply, is an error. A run that must end meanwhile (LuaVm::is_ending) has no
// reply.
void ReplyFromLua(lua_State* L, LuaVm& vm, size_t most_bytes, Reply& reply);

}  // namespace cairn
