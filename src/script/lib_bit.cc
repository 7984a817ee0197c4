// SPDX-License-Identifier: BSD-3-Clause
//
// The library `bit` (bitop): operations on 32 bits. A number is taken modulo 2^32, the result is signed.
//
// Thread: that of the Lua state.
#include <algorithm>
#include <bit>
#include <climits>
#include <cstdint>

#include "script/sandbox.h"

namespace cairn {
namespace {

// Rounds a number to an integer, half to even, and takes it modulo 2^32: adding a number so large that the sum's last
// bit counts as 1 leaves the result in the low bits.
uint32_t CheckBits(lua_State* L, int arg) {
  constexpr lua_Number kOneIsLast = 6755399441055744.0;  // 2^52 + 2^51
  const auto bits = static_cast<uint32_t>(std::bit_cast<uint64_t>(lua_tonumber(L, arg) + kOneIsLast));
  if (bits == 0 && lua_isnumber(L, arg) == 0) luaL_typerror(L, arg, "number");
  return bits;
}

int PushBits(lua_State* L, uint32_t bits) {
  lua_pushnumber(L, static_cast<lua_Number>(static_cast<int32_t>(bits)));
  return 1;
}

int ToBit(lua_State* L) { return PushBits(L, CheckBits(L, 1)); }
int BitNot(lua_State* L) { return PushBits(L, ~CheckBits(L, 1)); }
int ByteSwap(lua_State* L) { return PushBits(L, __builtin_bswap32(CheckBits(L, 1))); }

template <typename Operation>
int Combine(lua_State* L, Operation operation) {
  uint32_t bits = CheckBits(L, 1);
  for (int arg = lua_gettop(L); arg > 1; --arg) bits = operation(bits, CheckBits(L, arg));
  return PushBits(L, bits);
}

int BitAnd(lua_State* L) {
  return Combine(L, [](uint32_t a, uint32_t b) { return a & b; });
}
int BitOr(lua_State* L) {
  return Combine(L, [](uint32_t a, uint32_t b) { return a | b; });
}
int BitXor(lua_State* L) {
  return Combine(L, [](uint32_t a, uint32_t b) { return a ^ b; });
}

template <typename Operation>
int Shift(lua_State* L, Operation operation) {
  constexpr uint32_t kMostPlaces = 31;
  const uint32_t bits = CheckBits(L, 1);
  return PushBits(L, operation(bits, static_cast<int>(CheckBits(L, 2) & kMostPlaces)));
}

int ShiftLeft(lua_State* L) {
  return Shift(L, [](uint32_t bits, int n) { return bits << n; });
}
int ShiftRight(lua_State* L) {
  return Shift(L, [](uint32_t bits, int n) { return bits >> n; });
}
int ShiftRightSigned(lua_State* L) {
  return Shift(L, [](uint32_t bits, int n) { return static_cast<uint32_t>(static_cast<int32_t>(bits) >> n); });
}
int RotateLeft(lua_State* L) {
  return Shift(L, [](uint32_t bits, int n) { return std::rotl(bits, n); });
}
int RotateRight(lua_State* L) {
  return Shift(L, [](uint32_t bits, int n) { return std::rotr(bits, n); });
}

// bit.tohex(x [, digits]): in upper case if digits is negative.
int ToHex(lua_State* L) {
  constexpr int kMostDigits = 8;
  uint32_t bits = CheckBits(L, 1);
  const int64_t wanted = lua_isnone(L, 2) ? kMostDigits : static_cast<int32_t>(CheckBits(L, 2));
  const char* const letters = wanted < 0 ? "0123456789ABCDEF" : "0123456789abcdef";
  const auto count = static_cast<size_t>(std::min<int64_t>(wanted < 0 ? -wanted : wanted, kMostDigits));
  char digits[kMostDigits];
  for (size_t i = count; i-- > 0; bits >>= 4) digits[i] = letters[bits & 15];
  lua_pushlstring(L, digits, count);
  return 1;
}

}  // namespace

int OpenBit(lua_State* L) {
  constexpr luaL_Reg kFunctions[] = {
      {"tobit", ToBit},    {"bnot", BitNot},      {"band", BitAnd},       {"bor", BitOr},
      {"bxor", BitXor},    {"lshift", ShiftLeft}, {"rshift", ShiftRight}, {"arshift", ShiftRightSigned},
      {"rol", RotateLeft}, {"ror", RotateRight},  {"bswap", ByteSwap},    {"tohex", ToHex},
      {nullptr, nullptr},
  };
  lua_newtable(L);
  luaL_register(L, nullptr, kFunctions);
  return 1;
}

}  // namespace cairn
