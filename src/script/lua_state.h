// SPDX-License-Identifier: BSD-3-Clause
//
// Lua's own headers, and what every function that Lua calls has to mind: a Lua error is a longjmp over its caller's
// frames. So a function that raises one holds nothing then that has a destructor; what needs strings and vectors is
// done in a function beneath it, which leaves a value on the Lua stack and returns.
#pragma once

#include <cstdint>
#include <lua.hpp>
#include <string_view>

namespace cairn {

inline void PushText(lua_State* L, std::string_view text) { lua_pushlstring(L, text.data(), text.size()); }

inline std::string_view TextAt(lua_State* L, int index) {
  size_t size = 0;
  const char* text = lua_tolstring(L, index, &size);
  return text == nullptr ? std::string_view() : std::string_view(text, size);
}

// Leaves {err = "CODE text"}, as a failed command looks to a script. `text` has its code.
void PushErrorTable(lua_State* L, std::string_view text);

// Says that a C function does as much as Lua in so many steps; raises an error when the run may not go on. What it
// allocates need not be told.
void ChargeWork(lua_State* L, uint64_t steps);

// Raises {err = "ERR text"}.
int RaiseError(lua_State* L, const char* text);

}  // namespace cairn
