// SPDX-License-Identifier: BSD-3-Clause
//
// From a value that a script returns to the client's reply. A number loses its fraction; a table is an array up to its
// first nil, unless it has one of the fields err, ok, double, big_number, verbatim_string, map and set, by which a
// script says what it means. Fields are read past metatables, so no code of the script runs.
#pragma once

#include "resp/reply.h"
#include "script/lua_state.h"

namespace cairn {

class LuaVm;

// Replies the value on the top of the stack, which the run of `vm` has returned, and pops it. A value that would take
// more than `most_bytes`, or is nested too deeply, is answered with an error. A run that may not go on meanwhile
// (LuaVm::is_ending) has no reply.
void ReplyFromLua(lua_State* L, LuaVm& vm, size_t most_bytes, Reply& reply);

}  // namespace cairn
