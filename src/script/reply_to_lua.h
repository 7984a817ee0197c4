// SPDX-License-Identifier: BSD-3-Clause
//
// Converts a command's reply to the value for a script. In RESP2 that is a number, a string, a table with ok or err, an
// array, or false for null. RESP3 (redis.setresp) adds nil, booleans and tables with map, set, double, big_number and
// verbatim_string.
#pragma once

#include <string_view>

#include "script/lua_state.h"

namespace cairn {

// Pushes the value. REQUIRES: `reply` is one complete reply of a command.
void PushReply(lua_State* L, std::string_view reply);

}  // namespace cairn
