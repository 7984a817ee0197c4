// SPDX-License-Identifier: BSD-3-Clause
//
// Variable-length integers (docs/format.md, section 1).
//
//   varint   7 bits a byte, least significant group first, high bit set on all but the last; 1 to 10 bytes
//   zigzag   a signed integer v as the unsigned (v << 1) ^ (v >> 63): 0, -1, 1, -2 ... become 0, 1, 2, 3
//   u16, u32, u64   big-endian, fixed width
//
// Example: varint 300 = ac 02; zigzag -3 = varint 5 = 05.
//
// Readers take bytes from the front of a view. They return false, and leave the view unspecified, if it is too short
// or the varint is longer than 10 bytes. Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn {

inline uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

inline int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1); }

template <typename Buffer>
inline void AppendVarint(Buffer& out, uint64_t value) {
  char bytes[10];
  int size = 0;
  while (value >= 0x80) {
    bytes[size++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes[size++] = static_cast<char>(value);
  out.append(bytes, size);
}

inline bool ReadVarint(std::string_view& in, uint64_t& value) {
  if (!in.empty() && static_cast<unsigned char>(in[0]) < 0x80) [[likely]] {
    value = static_cast<unsigned char>(in[0]);
    in.remove_prefix(1);
    return true;
  }
  value = 0;
  for (size_t i = 0; i < in.size() && i < 10; ++i) {
    const uint64_t byte = static_cast<unsigned char>(in[i]);
    if (i == 9 && byte > 1) return false;
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      in.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

template <typename Buffer>
inline void AppendU64(Buffer& out, uint64_t value) {
  value = __builtin_bswap64(value);
  out.append(reinterpret_cast<const char*>(&value), 8);
}

template <typename Buffer>
inline void AppendU32(Buffer& out, uint32_t value) {
  value = __builtin_bswap32(value);
  out.append(reinterpret_cast<const char*>(&value), 4);
}

template <typename Buffer>
inline void AppendU16(Buffer& out, uint16_t value) {
  value = __builtin_bswap16(value);
  out.append(reinterpret_cast<const char*>(&value), 2);
}

inline bool ReadU64(std::string_view& in, uint64_t& value) {
  if (in.size() < 8) return false;
  __builtin_memcpy(&value, in.data(), 8);
  value = __builtin_bswap64(value);
  in.remove_prefix(8);
  return true;
}

inline bool ReadU32(std::string_view& in, uint32_t& value) {
  if (in.size() < 4) return false;
  __builtin_memcpy(&value, in.data(), 4);
  value = __builtin_bswap32(value);
  in.remove_prefix(4);
  return true;
}

inline bool ReadU16(std::string_view& in, uint16_t& value) {
  if (in.size() < 2) return false;
  __builtin_memcpy(&value, in.data(), 2);
  value = __builtin_bswap16(value);
  in.remove_prefix(2);
  return true;
}

}  // namespace cairn
