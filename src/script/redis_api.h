// SPDX-License-Identifier: BSD-3-Clause
//
// The table `redis` of scripts, of functions and of a library that is being loaded.
#pragma once

#include "script/lua_state.h"

namespace cairn {

// Each pushes the table, unprotected.
void PushScriptApi(lua_State* L);
void PushFunctionApi(lua_State* L);
void PushLoadApi(lua_State* L);

}  // namespace cairn
