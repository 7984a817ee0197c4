// SPDX-License-Identifier: BSD-3-Clause
//
// The library `cmsgpack`: Lua values as MessagePack, by msgpack-c.
//
// A table whose keys are 1 to n is an array, any other a map; what MessagePack has no form for is nil, and so is a
// table that lies 16 deep. A number without a fraction is an integer; a fraction that a float holds is one.
//
// Thread: the Lua state's.
#include <msgpack.h>

#include <cmath>

#include "script/sandbox.h"

namespace cairn {
namespace {

constexpr int kMostDepth = 16;

// msgpack-c writes into a luaL_Buffer by this; Lua's stack below the buffer's own is used for the values, so the bytes
// gather in a userdata of their own instead.
struct Packed {
  msgpack_sbuffer bytes;
  msgpack_packer packer;
};

int FreePacked(lua_State* L) {
  msgpack_sbuffer_destroy(&static_cast<Packed*>(lua_touserdata(L, 1))->bytes);
  return 0;
}

// Leaves a userdata that is freed by Lua, whatever error comes.
Packed& PushPacked(lua_State* L) {
  auto* packed = static_cast<Packed*>(lua_newuserdata(L, sizeof(Packed)));
  msgpack_sbuffer_init(&packed->bytes);
  msgpack_packer_init(&packed->packer, &packed->bytes, msgpack_sbuffer_write);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, FreePacked);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  return *packed;
}

void PackValue(lua_State* L, msgpack_packer& out, int depth);

void PackNumber(msgpack_packer& out, lua_Number number) {
  constexpr lua_Number kEnd = 9223372036854775808.0;  // 2^63
  if (number >= -kEnd && number < kEnd && std::floor(number) == number) {
    msgpack_pack_int64(&out, static_cast<int64_t>(number));
  } else if (static_cast<lua_Number>(static_cast<float>(number)) == number) {
    msgpack_pack_float(&out, static_cast<float>(number));
  } else {
    msgpack_pack_double(&out, number);
  }
}

// Whether the keys of the table on the top of the stack are 1 to n; counts them in either case.
bool IsArray(lua_State* L, size_t& count) {
  bool whole = true;
  lua_Number largest = 0;
  count = 0;
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    lua_pop(L, 1);
    ++count;
    const lua_Number key = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
    if (key <= 0 || std::floor(key) != key) whole = false;
    if (key > largest) largest = key;
  }
  return whole && largest == static_cast<lua_Number>(count);
}

void PackTable(lua_State* L, msgpack_packer& out, int depth) {
  luaL_checkstack(L, 4, "in function cmsgpack.pack");
  size_t count = 0;
  if (IsArray(L, count)) {
    msgpack_pack_array(&out, count);
    for (size_t i = 1; i <= count; ++i) {
      lua_rawgeti(L, -1, static_cast<int>(i));
      PackValue(L, out, depth + 1);
    }
    return;
  }
  msgpack_pack_map(&out, count);
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    lua_pushvalue(L, -2);
    PackValue(L, out, depth + 1);
    PackValue(L, out, depth + 1);
  }
}

// Packs the value on the top of the stack and pops it.
void PackValue(lua_State* L, msgpack_packer& out, int depth) {
  switch (lua_type(L, -1)) {
    case LUA_TSTRING: {
      const std::string_view text = TextAt(L, -1);
      msgpack_pack_str(&out, text.size());
      msgpack_pack_str_body(&out, text.data(), text.size());
      break;
    }
    case LUA_TBOOLEAN: lua_toboolean(L, -1) != 0 ? msgpack_pack_true(&out) : msgpack_pack_false(&out); break;
    case LUA_TNUMBER: PackNumber(out, lua_tonumber(L, -1)); break;
    case LUA_TTABLE:
      if (depth < kMostDepth) {
        PackTable(L, out, depth);
        break;
      }
      [[fallthrough]];
    default: msgpack_pack_nil(&out);
  }
  lua_pop(L, 1);
}

int Pack(lua_State* L) {
  const int count = lua_gettop(L);
  if (count == 0) return luaL_argerror(L, 0, "MessagePack pack needs input.");
  luaL_checkstack(L, count + 4, "Too many arguments for MessagePack pack.");
  Packed& packed = PushPacked(L);
  for (int i = 1; i <= count; ++i) {
    lua_pushvalue(L, i);
    PackValue(L, packed.packer, 0);
  }
  lua_pushlstring(L, packed.bytes.data, packed.bytes.size);
  return 1;
}

// ---- reading

void PushValue(lua_State* L, const msgpack_object& value) {
  luaL_checkstack(L, 4, "in function cmsgpack.unpack");
  switch (value.type) {
    case MSGPACK_OBJECT_BOOLEAN: lua_pushboolean(L, value.via.boolean ? 1 : 0); break;
    case MSGPACK_OBJECT_POSITIVE_INTEGER: lua_pushnumber(L, static_cast<lua_Number>(value.via.u64)); break;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER: lua_pushnumber(L, static_cast<lua_Number>(value.via.i64)); break;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64: lua_pushnumber(L, value.via.f64); break;
    case MSGPACK_OBJECT_STR: lua_pushlstring(L, value.via.str.ptr, value.via.str.size); break;
    case MSGPACK_OBJECT_BIN: lua_pushlstring(L, value.via.bin.ptr, value.via.bin.size); break;
    case MSGPACK_OBJECT_ARRAY:
      lua_newtable(L);
      for (uint32_t i = 0; i < value.via.array.size; ++i) {
        PushValue(L, value.via.array.ptr[i]);
        lua_rawseti(L, -2, static_cast<int>(i) + 1);
      }
      break;
    case MSGPACK_OBJECT_MAP:
      lua_newtable(L);
      for (uint32_t i = 0; i < value.via.map.size; ++i) {
        PushValue(L, value.via.map.ptr[i].key);
        PushValue(L, value.via.map.ptr[i].val);
        lua_settable(L, -3);
      }
      break;
    default: lua_pushnil(L); break;
  }
}

int FreeUnpacked(lua_State* L) {
  msgpack_unpacked_destroy(static_cast<msgpack_unpacked*>(lua_touserdata(L, 1)));
  return 0;
}

msgpack_unpacked& PushUnpacked(lua_State* L) {
  auto* unpacked = static_cast<msgpack_unpacked*>(lua_newuserdata(L, sizeof(msgpack_unpacked)));
  msgpack_unpacked_init(unpacked);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, FreeUnpacked);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  return *unpacked;
}

// Pushes up to `limit` values from `offset` on, 0: all, and before them, if `with_offset`, where the next one starts:
// -1 when there is none.
int UnpackSome(lua_State* L, lua_Integer limit, lua_Integer offset, bool with_offset) {
  size_t length = 0;
  const char* bytes = luaL_checklstring(L, 1, &length);
  if (offset < 0 || limit < 0) {
    return luaL_error(L, "Invalid request to unpack with offset of %d and limit of %d.", static_cast<int>(offset),
                      static_cast<int>(limit));
  }
  if (static_cast<size_t>(offset) > length) {
    return luaL_error(L, "Start offset %d greater than input length %d.", static_cast<int>(offset),
                      static_cast<int>(length));
  }
  msgpack_unpacked& unpacked = PushUnpacked(L);
  const int first = lua_gettop(L) + 1;
  auto position = static_cast<size_t>(offset);
  int count = 0;
  while (position < length && (limit == 0 || count < limit)) {
    luaL_checkstack(L, 2, "in function cmsgpack.unpack");
    const msgpack_unpack_return result = msgpack_unpack_next(&unpacked, bytes, length, &position);
    if (result == MSGPACK_UNPACK_CONTINUE) return luaL_error(L, "Missing bytes in input.");
    if (result != MSGPACK_UNPACK_SUCCESS && result != MSGPACK_UNPACK_EXTRA_BYTES) {
      return luaL_error(L, "Bad data format in input.");
    }
    PushValue(L, unpacked.data);
    ++count;
  }
  if (!with_offset) return count;
  lua_pushinteger(L, position < length ? static_cast<lua_Integer>(position) : -1);
  lua_insert(L, first);
  return count + 1;
}

int Unpack(lua_State* L) { return UnpackSome(L, 0, 0, false); }
int UnpackOne(lua_State* L) { return UnpackSome(L, 1, luaL_optinteger(L, 2, 0), true); }
int UnpackLimit(lua_State* L) { return UnpackSome(L, luaL_checkinteger(L, 2), luaL_optinteger(L, 3, 0), true); }

}  // namespace

int OpenMsgpack(lua_State* L) {
  constexpr luaL_Reg kFunctions[] = {
      {"pack", Pack}, {"unpack", Unpack}, {"unpack_one", UnpackOne}, {"unpack_limit", UnpackLimit}, {nullptr, nullptr}};
  lua_newtable(L);
  luaL_register(L, nullptr, kFunctions);
  lua_pushliteral(L, "cmsgpack");
  lua_setfield(L, -2, "_NAME");
  lua_pushliteral(L, "lua-cmsgpack 0.4.0");
  lua_setfield(L, -2, "_VERSION");
  return 1;
}

}  // namespace cairn
