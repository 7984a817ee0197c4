// SPDX-License-Identifier: BSD-3-Clause
#include "script/script_buffer.h"

#include <algorithm>
#include <cstring>

#include "script/lua_state.h"
#include "script/lua_vm.h"

namespace cairn {
namespace {

// The slot's content if the bytes do not fit into the object.
struct Block {
  void* bytes;
  size_t size;
};

const char kMetatableKey = 0;

void Resize(lua_State* L, Block& block, size_t size) {
  void* vm = nullptr;
  const lua_Alloc allocate = lua_getallocf(L, &vm);
  void* const resized = allocate(vm, block.bytes, block.size, size);
  if (resized == nullptr && size != 0) {
    if (LuaVm::Of(L).is_ending()) LuaVm::RaiseEnd(L);
    luaL_error(L, "not enough memory");
  }
  block = {resized, size};
}

int FreeBlock(lua_State* L) {
  Resize(L, *static_cast<Block*>(lua_touserdata(L, 1)), 0);
  return 0;
}

Block& PushBlock(lua_State* L) {
  auto* block = static_cast<Block*>(lua_newuserdata(L, sizeof(Block)));
  *block = {nullptr, 0};
  lua_pushlightuserdata(L, const_cast<char*>(&kMetatableKey));
  lua_rawget(L, LUA_REGISTRYINDEX);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, FreeBlock);
    lua_setfield(L, -2, "__gc");
    lua_pushlightuserdata(L, const_cast<char*>(&kMetatableKey));
    lua_pushvalue(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
  }
  lua_setmetatable(L, -2);
  return *block;
}

}  // namespace

ScriptBuffer::ScriptBuffer(lua_State* state) : L(state), slot_(lua_gettop(state) + 1) { lua_pushnil(L); }

void ScriptBuffer::Append(std::string_view bytes) {
  if (bytes.size() > capacity_ - size_) Grow(bytes.size());
  std::memcpy(data_ + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
}

void ScriptBuffer::Grow(size_t more) {
  constexpr int kSlots = 4;
  luaL_checkstack(L, kSlots, "no room for a buffer");
  const bool was_inside = data_ == inside_;
  if (was_inside) {
    PushBlock(L);
    lua_replace(L, slot_);
  }
  Block& block = *static_cast<Block*>(lua_touserdata(L, slot_));
  Resize(L, block, std::max(size_ + more, capacity_ + capacity_ / 2));
  if (was_inside) std::memcpy(block.bytes, inside_, size_);
  data_ = static_cast<char*>(block.bytes);
  capacity_ = block.size;
}

void ScriptBuffer::PushText() {
  lua_pushlstring(L, data_, size_);
  if (data_ != inside_) Resize(L, *static_cast<Block*>(lua_touserdata(L, slot_)), 0);
  data_ = inside_;
  size_ = 0;
  capacity_ = sizeof inside_;
}

}  // namespace cairn
