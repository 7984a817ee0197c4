// SPDX-License-Identifier: BSD-3-Clause
//
// Lua's headers, and a rule for every function that Lua calls: a Lua error is a longjmp over its caller's frames. So a
// function that raises one must not hold an object with a destructor. Code that needs strings and vectors is in an
// inner function, which pushes a value on the Lua stack and returns.
#pragma once

#include <cstdint>
#include <limits>
#include <lua.hpp>
#include <string>
#include <string_view>

namespace cairn {

inline void PushText(lua_State* L, std::string_view text) { lua_pushlstring(L, text.data(), text.size()); }

inline std::string_view TextAt(lua_State* L, int index) {
  size_t size = 0;
  const char* text = lua_tolstring(L, index, &size);
  return text == nullptr ? std::string_view() : std::string_view(text, size);
}

// The text of table[name], or nothing if it is no text or number. Read without metatables, so no code of the script
// runs. `table` is an index from the bottom of the stack.
inline std::string FieldText(lua_State* L, int table, const char* name) {
  lua_pushstring(L, name);
  lua_rawget(L, table);
  std::string text(TextAt(L, -1));
  lua_pop(L, 1);
  return text;
}

// The number without its fraction, as C does it on x86-64, where Redis's scripts have their results from: the least
// integer if it does not fit, or is no number.
template <typename Integer>
Integer Truncated(lua_Number number) {
  constexpr lua_Number kEnd = -static_cast<lua_Number>(std::numeric_limits<Integer>::min());
  return number >= -kEnd && number < kEnd ? static_cast<Integer>(number) : std::numeric_limits<Integer>::min();
}

// Pushes {err = "CODE text"}, the form of a failed command in a script. `text` includes its code.
void PushErrorTable(lua_State* L, std::string_view text);

// Charges the work of a C function as that many Lua steps. Raises an error if the run must end. Memory it allocates is
// counted separately.
void ChargeWork(lua_State* L, uint64_t steps);

// Raises {err = "ERR text"}.
int RaiseError(lua_State* L, const char* text);

}  // namespace cairn
