// SPDX-License-Identifier: BSD-3-Clause
//
// The library `cmsgpack`: Lua values to MessagePack and back, with the same bytes as lua-cmsgpack 0.4.
//
// A table whose keys are 1 to n is an array, any other a map. Values without a representation become nil, and so does a
// table at depth 16. A number without a fraction becomes an integer; a fraction that a float holds becomes a float. The
// types bin and ext are not supported, and an unsigned number of 2^63 or more is read as a signed one.
//
// Thread: that of the Lua state.
#include <bit>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "script/sandbox.h"
#include "script/script_buffer.h"

namespace cairn {
namespace {

constexpr int kMostDepth = 16;
constexpr uint64_t kStepsPerValue = 4;

class Packer {
 public:
  explicit Packer(lua_State* state) : L(state), out_(state) {}

  // Packs the value on the top of the stack and pops it.
  void Add(int depth) {
    ChargeWork(L, kStepsPerValue);
    switch (lua_type(L, -1)) {
      case LUA_TSTRING: AddText(TextAt(L, -1)); break;
      case LUA_TBOOLEAN: out_.Append(lua_toboolean(L, -1) != 0 ? '\xc3' : '\xc2'); break;
      case LUA_TNUMBER: AddNumber(lua_tonumber(L, -1)); break;
      case LUA_TTABLE:
        if (depth < kMostDepth) {
          AddTable(depth);
          break;
        }
        [[fallthrough]];
      default: out_.Append('\xc0');
    }
    lua_pop(L, 1);
  }

  void PushPacked() { out_.PushText(); }

 private:
  // Appends a type byte and the low `bytes` bytes of the number, big-endian.
  void AddHead(int type, uint64_t number, int bytes) {
    out_.Append(static_cast<char>(type));
    for (int i = bytes - 1; i >= 0; --i) out_.Append(static_cast<char>(number >> (8 * i)));
  }

  void AddText(std::string_view text) {
    const size_t size = text.size();
    if (size < 32) {
      AddHead(0xa0 | static_cast<int>(size), 0, 0);
    } else if (size <= UINT8_MAX) {
      AddHead(0xd9, size, 1);
    } else if (size <= UINT16_MAX) {
      AddHead(0xda, size, 2);
    } else {
      AddHead(0xdb, size, 4);
    }
    out_.Append(text);
  }

  void AddNumber(lua_Number number) {
    constexpr lua_Number kEnd = 9223372036854775808.0;  // 2^63
    if (number >= -kEnd && number < kEnd && std::floor(number) == number) {
      AddInteger(static_cast<int64_t>(number));
    } else if (static_cast<lua_Number>(static_cast<float>(number)) == number) {
      AddHead(0xca, std::bit_cast<uint32_t>(static_cast<float>(number)), 4);
    } else {
      AddHead(0xcb, std::bit_cast<uint64_t>(number), 8);
    }
  }

  void AddInteger(int64_t number) {
    const auto bits = static_cast<uint64_t>(number);
    if (number >= -32 && number <= INT8_MAX) {
      AddHead(static_cast<int>(number & 0xff), 0, 0);
    } else if (number >= 0) {
      if (number <= UINT8_MAX) return AddHead(0xcc, bits, 1);
      if (number <= UINT16_MAX) return AddHead(0xcd, bits, 2);
      if (number <= UINT32_MAX) return AddHead(0xce, bits, 4);
      AddHead(0xcf, bits, 8);
    } else {
      if (number >= INT8_MIN) return AddHead(0xd0, bits, 1);
      if (number >= INT16_MIN) return AddHead(0xd1, bits, 2);
      if (number >= INT32_MIN) return AddHead(0xd2, bits, 4);
      AddHead(0xd3, bits, 8);
    }
  }

  // Appends the size of an array or a map.
  void AddCount(size_t count, int small_type, int type) {
    if (count < 16) {
      AddHead(small_type | static_cast<int>(count), 0, 0);
    } else if (count <= UINT16_MAX) {
      AddHead(type, count, 2);
    } else {
      AddHead(type + 1, count, 4);
    }
  }

  // Returns whether the keys of the table on the top of the stack are 1 to n; counts them in either case.
  bool IsArray(size_t& count) {
    bool whole = true;
    lua_Number largest = 0;
    count = 0;
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
      lua_pop(L, 1);
      ++count;
      const lua_Number key = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
      whole = whole && key > 0 && key <= INT_MAX && std::floor(key) == key;
      largest = std::fmax(largest, key);
    }
    ChargeWork(L, count);
    return whole && largest == static_cast<lua_Number>(count);
  }

  void AddTable(int depth) {
    constexpr int kSlots = 6;
    luaL_checkstack(L, kSlots, "in function cmsgpack.pack");
    size_t count = 0;
    if (IsArray(count)) {
      AddCount(count, 0x90, 0xdc);
      for (size_t i = 1; i <= count; ++i) {
        lua_rawgeti(L, -1, static_cast<int>(i));
        Add(depth + 1);
      }
      return;
    }
    AddCount(count, 0x80, 0xde);
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
      lua_pushvalue(L, -2);
      Add(depth + 1);
      Add(depth + 1);
    }
  }

  lua_State* const L;
  ScriptBuffer out_;
};

int Pack(lua_State* L) {
  const int count = lua_gettop(L);
  if (count == 0) return luaL_argerror(L, 0, "MessagePack pack needs input.");
  if (lua_checkstack(L, count) == 0) return luaL_argerror(L, 0, "Too many arguments for MessagePack pack.");
  Packer packer(L);
  for (int i = 1; i <= count; ++i) {
    lua_pushvalue(L, i);
    packer.Add(0);
  }
  packer.PushPacked();
  return 1;
}

class Reader {
 public:
  Reader(lua_State* state, std::string_view bytes) : L(state), left_(bytes) {}

  size_t left() const { return left_.size(); }

  // Pushes the next value.
  void Push() {
    ChargeWork(L, kStepsPerValue);
    luaL_checkstack(L, 1, "too many return values at once; use unpack_one or unpack_limit instead.");
    const auto type = static_cast<unsigned char>(Take(1)[0]);
    if (type < 0x80 || type >= 0xe0) {
      lua_pushinteger(L, static_cast<signed char>(type));
    } else if (type < 0x90) {
      PushMap(type & 0x0f);
    } else if (type < 0xa0) {
      PushArray(type & 0x0f);
    } else if (type < 0xc0) {
      PushText(L, Take(type & 0x1f));
    } else {
      PushTyped(type);
    }
  }

 private:
  std::string_view Take(size_t size) {
    if (left_.size() < size) luaL_error(L, "Missing bytes in input.");
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }

  // Reads a big-endian number.
  uint64_t TakeNumber(size_t size) {
    uint64_t number = 0;
    for (const char byte : Take(size)) number = number << 8 | static_cast<unsigned char>(byte);
    return number;
  }

  void PushTyped(unsigned char type) {
    switch (type) {
      case 0xc0: lua_pushnil(L); break;
      case 0xc2: lua_pushboolean(L, 0); break;
      case 0xc3: lua_pushboolean(L, 1); break;
      case 0xca: lua_pushnumber(L, std::bit_cast<float>(static_cast<uint32_t>(TakeNumber(4)))); break;
      case 0xcb: lua_pushnumber(L, std::bit_cast<double>(TakeNumber(8))); break;
      case 0xcc: lua_pushinteger(L, static_cast<lua_Integer>(TakeNumber(1))); break;
      case 0xcd: lua_pushinteger(L, static_cast<lua_Integer>(TakeNumber(2))); break;
      case 0xce: lua_pushinteger(L, static_cast<lua_Integer>(TakeNumber(4))); break;
      case 0xcf: lua_pushinteger(L, static_cast<lua_Integer>(TakeNumber(8))); break;
      case 0xd0: lua_pushinteger(L, static_cast<int8_t>(TakeNumber(1))); break;
      case 0xd1: lua_pushinteger(L, static_cast<int16_t>(TakeNumber(2))); break;
      case 0xd2: lua_pushinteger(L, static_cast<int32_t>(TakeNumber(4))); break;
      case 0xd3: lua_pushnumber(L, static_cast<lua_Number>(static_cast<int64_t>(TakeNumber(8)))); break;
      case 0xd9: PushText(L, Take(TakeNumber(1))); break;
      case 0xda: PushText(L, Take(TakeNumber(2))); break;
      case 0xdb: PushText(L, Take(TakeNumber(4))); break;
      case 0xdc: PushArray(TakeNumber(2)); break;
      case 0xdd: PushArray(TakeNumber(4)); break;
      case 0xde: PushMap(TakeNumber(2)); break;
      case 0xdf: PushMap(TakeNumber(4)); break;
      default: luaL_error(L, "Bad data format in input.");
    }
  }

  void PushArray(uint64_t size) {
    lua_newtable(L);
    luaL_checkstack(L, 2, "in function cmsgpack.unpack");
    for (uint64_t i = 1; i <= size; ++i) {
      lua_pushnumber(L, static_cast<lua_Number>(i));
      Push();
      lua_settable(L, -3);
    }
  }

  // A key that is nil or NaN raises a Lua error.
  void PushMap(uint64_t size) {
    lua_newtable(L);
    for (uint64_t i = 0; i < size; ++i) {
      Push();
      Push();
      lua_settable(L, -3);
    }
  }

  lua_State* const L;
  std::string_view left_;
};

// Pushes up to `limit` values from `offset` on; the stack holds only the bytes. The first value pushed is the offset of
// the next value, -1 at the end. With neither limit nor offset, pushes all values and no offset.
int UnpackSome(lua_State* L, lua_Integer limit, lua_Integer offset) {
  size_t length = 0;
  const char* bytes = luaL_checklstring(L, 1, &length);
  const bool takes_all = limit == 0 && offset == 0;
  if (offset < 0 || limit < 0) {
    return luaL_error(L, "Invalid request to unpack with offset of %d and limit of %d.", static_cast<int>(offset),
                      static_cast<int>(length));
  }
  if (static_cast<size_t>(offset) > length) {
    return luaL_error(L, "Start offset %d greater than input length %d.", static_cast<int>(offset),
                      static_cast<int>(length));
  }
  if (takes_all) limit = INT_MAX;
  Reader reader(L, std::string_view(bytes, length).substr(static_cast<size_t>(offset)));
  int count = 0;
  for (; reader.left() > 0 && count < limit; ++count) reader.Push();
  if (takes_all) return count;
  luaL_checkstack(L, 1, "in function cmsgpack.unpack");
  lua_pushinteger(L, reader.left() == 0 ? -1 : static_cast<lua_Integer>(length - reader.left()));
  constexpr int kFirstResult = 2;
  lua_insert(L, kFirstResult);
  return count + 1;
}

int Unpack(lua_State* L) { return UnpackSome(L, 0, 0); }

int UnpackOne(lua_State* L) {
  const lua_Integer offset = luaL_optinteger(L, 2, 0);
  lua_settop(L, 1);
  return UnpackSome(L, 1, offset);
}

int UnpackLimit(lua_State* L) {
  const lua_Integer limit = luaL_checkinteger(L, 2);
  const lua_Integer offset = luaL_optinteger(L, 3, 0);
  lua_settop(L, 1);
  return UnpackSome(L, limit, offset);
}

void SetText(lua_State* L, const char* field, const char* text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, field);
}

}  // namespace

int OpenMsgpack(lua_State* L) {
  constexpr luaL_Reg kFunctions[] = {
      {"pack", Pack}, {"unpack", Unpack}, {"unpack_one", UnpackOne}, {"unpack_limit", UnpackLimit}, {nullptr, nullptr}};
  lua_newtable(L);
  luaL_register(L, nullptr, kFunctions);
  SetText(L, "_NAME", "cmsgpack");
  SetText(L, "_VERSION", "lua-cmsgpack 0.4.0");
  SetText(L, "_COPYRIGHT", "Copyright (C) 2012, Salvatore Sanfilippo");
  SetText(L, "_DESCRIPTION", "MessagePack C implementation for Lua");
  return 1;
}

}  // namespace cairn
