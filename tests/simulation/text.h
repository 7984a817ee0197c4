// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes as text for reports: long runs of one byte are shortened, because they only make a value large.
#pragma once

#include <string>
#include <string_view>

namespace cairn::simulation {

inline std::string Quoted(std::string_view bytes) {
  constexpr size_t kLongRun = 16;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "\"";
  for (size_t i = 0; i < bytes.size();) {
    const size_t end = bytes.find_first_not_of(bytes[i], i);
    const size_t run = (end == std::string_view::npos ? bytes.size() : end) - i;
    const auto byte = static_cast<unsigned char>(bytes[i]);
    const size_t shown = run > kLongRun ? 1 : run;
    for (size_t n = 0; n < shown; ++n) {
      if (byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\') {
        text += bytes[i];
      } else {
        text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      }
    }
    if (run > kLongRun) text += "{" + std::to_string(run) + "}";
    i += run;
  }
  return text + "\"";
}

}  // namespace cairn::simulation
