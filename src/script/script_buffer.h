// SPDX-License-Identifier: BSD-3-Clause
//
// ScriptBuffer: collects bytes in a function that Lua calls. They count as the Lua state's memory, and Lua frees them
// if an error (a longjmp) ends the function, so there is no destructor. A few bytes fit into the object itself.
//
// It takes a slot of the Lua stack, which must not move. Thread: that of the Lua state.
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
  // Pushes the bytes as a Lua string and frees them.
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
