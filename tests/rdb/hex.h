// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes as tests write them: hexadecimal digits, spaces ignored.
#pragma once

#include <string>
#include <string_view>

namespace cairn {

inline std::string FromHex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  int high = -1;
  for (const char c : hex) {
    if (c == ' ') continue;
    if (high < 0) {
      high = digit(c);
    } else {
      bytes.push_back(static_cast<char>(high << 4 | digit(c)));
      high = -1;
    }
  }
  return bytes;
}

inline std::string HexOf(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) {
    hex.push_back("0123456789abcdef"[static_cast<unsigned char>(c) >> 4]);
    hex.push_back("0123456789abcdef"[c & 15]);
  }
  return hex;
}

}  // namespace cairn
