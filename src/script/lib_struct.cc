// SPDX-License-Identifier: BSD-3-Clause
//
// The library `struct`: values to bytes and back by a format, as in Redis.
//
//   < >   little or big endian (none: native)      !n aligns to at most n (8 when left out)
//   b B h H l L T i[n] I[n]   integers of 1, 2, 8, 8 and n bytes (4 when left out), small letters are signed
//   f d       float, double           x    a byte of zero
//   s         a text up to a zero byte        c[n]  n bytes; c0: as many as the number before says, or, packing, all
//
// Thread: that of the Lua state.
#include <bit>
#include <cctype>
#include <climits>
#include <cstdint>
#include <cstring>

#include "script/lua_state.h"
#include "script/sandbox.h"

namespace cairn {
namespace {

constexpr int kMostIntegerBytes = 32;
constexpr int kNativeAlign = 8;

struct Format {
  const char* next;
  bool little = std::endian::native == std::endian::little;
  int align = 1;

  // Reads the number in the format; `otherwise` if there is none.
  int Number(lua_State* L, int otherwise) {
    if (!std::isdigit(static_cast<unsigned char>(*next))) return otherwise;
    int number = 0;
    for (; std::isdigit(static_cast<unsigned char>(*next)); ++next) {
      if (number > (INT_MAX / 10) || number * 10 > INT_MAX - (*next - '0')) {
        luaL_error(L, "integral size overflow");
      }
      number = number * 10 + (*next - '0');
    }
    return number;
  }

  // Reads the number after this letter and returns the size of the item.
  size_t SizeOf(lua_State* L, char letter) {
    switch (letter) {
      case 'B':
      case 'b': return sizeof(char);
      case 'H':
      case 'h': return sizeof(short);
      case 'L':
      case 'l': return sizeof(long);
      case 'T': return sizeof(size_t);
      case 'f': return sizeof(float);
      case 'd': return sizeof(double);
      case 'x': return 1;
      case 'c': return static_cast<size_t>(Number(L, 1));
      case 'i':
      case 'I': {
        const int size = Number(L, sizeof(int));
        if (size > kMostIntegerBytes) {
          luaL_error(L, "integral size %d is larger than limit of %d", size, kMostIntegerBytes);
        }
        return static_cast<size_t>(size);
      }
      default: return 0;
    }
  }

  // The padding that aligns an item of this size at `position`.
  size_t Padding(char letter, size_t size, size_t position) const {
    if (size == 0 || letter == 'c') return 0;
    const auto most = static_cast<size_t>(align);
    const size_t to = size > most ? most : size;
    return (to - (position & (to - 1))) & (to - 1);  // as in Redis, also for a size that is no power of two
  }

  // Handles a letter that controls the format itself.
  void Control(lua_State* L, char letter) {
    switch (letter) {
      case ' ': return;
      case '>': little = false; return;
      case '<': little = true; return;
      case '!': {
        const int wanted = Number(L, kNativeAlign);
        if (wanted <= 0 || (wanted & (wanted - 1)) != 0) luaL_error(L, "alignment %d is not a power of 2", wanted);
        align = wanted;
        return;
      }
      default: luaL_argerror(L, 1, lua_pushfstring(L, "invalid format option '%c'", letter));
    }
  }
};

// The format in the first argument. Its letters are charged as steps.
Format ReadFormat(lua_State* L) {
  size_t size = 0;
  const char* text = luaL_checklstring(L, 1, &size);
  ChargeWork(L, size);
  return {text};
}

void AddInteger(lua_State* L, luaL_Buffer& out, int arg, bool little, int size) {
  const lua_Number number = luaL_checknumber(L, arg);
  constexpr lua_Number kEnd = 9223372036854775808.0;  // 2^63
  uint64_t value = static_cast<uint64_t>(Truncated<int64_t>(number));
  if (number >= kEnd) value = static_cast<uint64_t>(Truncated<int64_t>(number - kEnd)) ^ (uint64_t{1} << 63);
  char bytes[kMostIntegerBytes];
  for (int i = 0; i < size; ++i, value >>= 8) bytes[little ? i : size - 1 - i] = static_cast<char>(value & 0xff);
  luaL_addlstring(&out, bytes, static_cast<size_t>(size));
}

template <typename T>
void AddFloat(lua_State* L, luaL_Buffer& out, int arg, bool little) {
  const T value = static_cast<T>(luaL_checknumber(L, arg));
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  const bool swaps = little != (std::endian::native == std::endian::little);
  for (size_t i = 0; i < sizeof(T); ++i) luaL_addchar(&out, bytes[swaps ? sizeof(T) - 1 - i : i]);
}

// Appends the bytes of c[n] and s. Returns their number. The error for a short text names the next argument, as in
// Redis.
size_t AddText(lua_State* L, luaL_Buffer& out, int arg, char letter, size_t size) {
  size_t length = 0;
  const char* text = luaL_checklstring(L, arg, &length);
  if (letter == 's' || size == 0) size = length;
  luaL_argcheck(L, length >= size, arg + 1, "string too short");
  luaL_addlstring(&out, text, size);
  if (letter != 's') return size;
  luaL_addchar(&out, '\0');
  return size + 1;
}

int Pack(lua_State* L) {
  Format format = ReadFormat(L);
  lua_pushnil(L);  // so that a missing argument is not read from the buffer's stack slots
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  size_t total = 0;
  int arg = 2;
  while (*format.next != '\0') {
    const char letter = *format.next++;
    size_t size = format.SizeOf(L, letter);
    const size_t padding = format.Padding(letter, size, total);
    total += padding;
    for (size_t i = 0; i < padding; ++i) luaL_addchar(&out, '\0');
    switch (letter) {
      case 'b':
      case 'B':
      case 'h':
      case 'H':
      case 'l':
      case 'L':
      case 'T':
      case 'i':
      case 'I': AddInteger(L, out, arg++, format.little, static_cast<int>(size)); break;
      case 'x': luaL_addchar(&out, '\0'); break;
      case 'f': AddFloat<float>(L, out, arg++, format.little); break;
      case 'd': AddFloat<double>(L, out, arg++, format.little); break;
      case 'c':
      case 's': size = AddText(L, out, arg++, letter, size); break;
      default: format.Control(L, letter);
    }
    total += size;
  }
  luaL_pushresult(&out);
  return 1;
}

lua_Number ReadInteger(const char* bytes, bool little, int size, bool is_signed) {
  uint64_t value = 0;
  for (int i = 0; i < size; ++i) {
    const char byte = bytes[little ? size - 1 - i : i];
    value = value << 8 | static_cast<unsigned char>(byte);
  }
  if (!is_signed) return static_cast<lua_Number>(value);
  // If there are more than 8 bytes, the last 8 count. The shift is modulo 64, as processors and Redis do it.
  const uint64_t sign_and_above = ~0ull << (static_cast<unsigned>(size * 8 - 1) & 63);
  if (value & sign_and_above) value |= sign_and_above;
  return static_cast<lua_Number>(static_cast<int64_t>(value));
}

template <typename T>
lua_Number ReadFloat(const char* bytes, bool little) {
  char ordered[sizeof(T)];
  const bool swaps = little != (std::endian::native == std::endian::little);
  for (size_t i = 0; i < sizeof(T); ++i) ordered[i] = bytes[swaps ? sizeof(T) - 1 - i : i];
  T value;
  std::memcpy(&value, ordered, sizeof(T));
  return static_cast<lua_Number>(value);
}

// Pushes the text of c[n] or s at `position`. Returns the number of bytes read.
size_t PushBytes(lua_State* L, char letter, std::string_view data, size_t position, size_t size, int& pushed) {
  if (letter == 's') {
    const size_t end = data.find('\0', position);
    if (end == std::string_view::npos) luaL_error(L, "unfinished string in data");
    PushText(L, data.substr(position, end - position));
    return end - position + 1;
  }
  if (size == 0) {  // the previous value is the size
    if (pushed == 0 || !lua_isnumber(L, -1)) luaL_error(L, "format 'c0' needs a previous size");
    const lua_Number wanted = lua_tonumber(L, -1);
    const bool is_size = wanted >= 0 && wanted <= static_cast<lua_Number>(data.size());  // NaN is none
    if (!is_size) luaL_argerror(L, 2, "data string too short");
    size = static_cast<size_t>(wanted);
    lua_pop(L, 1);
    --pushed;
    luaL_argcheck(L, size <= data.size() && position <= data.size() - size, 2, "data string too short");
  }
  PushText(L, data.substr(position, size));
  return size;
}

int Unpack(lua_State* L) {
  Format format = ReadFormat(L);
  size_t length = 0;
  const char* bytes = luaL_checklstring(L, 2, &length);
  const std::string_view data(bytes, length);
  const auto start = static_cast<size_t>(luaL_optinteger(L, 3, 1));
  luaL_argcheck(L, start > 0, 3, "offset must be 1 or greater");
  size_t position = start - 1;
  int pushed = 0;
  lua_settop(L, 2);
  while (*format.next != '\0') {
    const char letter = *format.next++;
    size_t size = format.SizeOf(L, letter);
    position += format.Padding(letter, size, position);
    luaL_argcheck(L, size <= length && position <= length - size, 2, "data string too short");
    luaL_checkstack(L, 2, "too many results");
    bool pushes = true;
    switch (letter) {
      case 'b':
      case 'B':
      case 'h':
      case 'H':
      case 'l':
      case 'L':
      case 'T':
      case 'i':
      case 'I': {
        const bool is_signed = std::islower(static_cast<unsigned char>(letter)) != 0;
        lua_pushnumber(L, ReadInteger(bytes + position, format.little, static_cast<int>(size), is_signed));
        break;
      }
      case 'f': lua_pushnumber(L, ReadFloat<float>(bytes + position, format.little)); break;
      case 'd': lua_pushnumber(L, ReadFloat<double>(bytes + position, format.little)); break;
      case 'c':
      case 's': size = PushBytes(L, letter, data, position, size, pushed); break;
      case 'x': pushes = false; break;
      default: format.Control(L, letter); pushes = false;
    }
    pushed += pushes ? 1 : 0;
    position += size;
  }
  lua_pushinteger(L, static_cast<lua_Integer>(position) + 1);
  return pushed + 1;
}

int Size(lua_State* L) {
  Format format = ReadFormat(L);
  size_t position = 0;
  while (*format.next != '\0') {
    const char letter = *format.next++;
    const size_t size = format.SizeOf(L, letter);
    position += format.Padding(letter, size, position);
    if (letter == 's') luaL_argerror(L, 1, "option 's' has no fixed size");
    if (letter == 'c' && size == 0) luaL_argerror(L, 1, "option 'c0' has no fixed size");
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) format.Control(L, letter);
    position += size;
  }
  lua_pushinteger(L, static_cast<lua_Integer>(position));
  return 1;
}

}  // namespace

int OpenStruct(lua_State* L) {
  constexpr luaL_Reg kFunctions[] = {{"pack", Pack}, {"unpack", Unpack}, {"size", Size}, {nullptr, nullptr}};
  lua_newtable(L);
  luaL_register(L, nullptr, kFunctions);
  return 1;
}

}  // namespace cairn
