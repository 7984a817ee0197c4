// SPDX-License-Identifier: BSD-3-Clause
//
// From a command's reply to the value a script gets. In RESP2 that is a number, a string, a table with ok or err, an
// array, and false for what is not there; RESP3 (redis.setresp) adds nil, booleans and tables with map, set, double,
// big_number and verbatim_string.
#pragma once

#include <string_view>

#include "script/lua_state.h"

namespace cairn {

// Leaves the value. REQUIRES: `reply` is one whole reply, as a command wrote it.
void PushReply(lua_State* L, std::string_view reply);

}  // namespace cairn
