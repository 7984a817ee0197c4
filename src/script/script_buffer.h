// SPDX-License-Identifier: BSD-3-Clause
//
// ScriptBuffer: bytes that a function which Lua calls gathers. They count as the Lua state's, and Lua frees them if an
// error ends the function (a longjmp), so there is no destructor. Few bytes lie in the object itself.
//
// It takes a slot of the Lua stack, which must stay where it is. Thread: the Lua state's.
#pragma once

#include <cstddef>
#include <string_view>

struct lua_State;

namespace cairn {

class ScriptBuffer {
 public:
  // Pushes the slot.
  explicit ScriptBuffer(lua_State* L);

  void Append(char c) {
    if (size_ == capacity_) Grow(1);
    data_[size_++] = c;
  }
  void Append(std::string_view bytes);
  std::string_view bytes() const { return {data_, size_}; }
  void Clear() { size_ = 0; }
  // Pushes the bytes as a string of Lua and frees them.
  void PushText();

 private:
  void Grow(size_t more);

  lua_State* const L;
  const int slot_;
  char* data_ = inside_;
  size_t size_ = 0;
  size_t capacity_ = sizeof inside_;
  char inside_[1024];
};

}  // namespace cairn
