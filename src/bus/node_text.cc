// SPDX-License-Identifier: BSD-3-Clause
#include "bus/node_text.h"

#include <algorithm>

namespace cairn {
namespace {

constexpr std::string_view kNotInHumanNames = "!#$%&()*+:;<>?@[]^{|}~ ,=\"'\\`";

bool IsAlphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool HasOnly(std::string_view text, size_t longest, std::string_view others) {
  return !text.empty() && text.size() <= longest && std::all_of(text.begin(), text.end(), [others](char c) {
    return IsAlphanumeric(c) || others.find(c) != std::string_view::npos;
  });
}

}  // namespace

bool IsIpText(std::string_view text) { return text.size() <= kLongestIp && IsHost(text); }

bool IsHost(std::string_view text) { return HasOnly(text, kLongestHostname, ".:%-_"); }

bool IsHostname(std::string_view text) { return HasOnly(text, kLongestHostname, "-."); }

bool IsHumanName(std::string_view text) {
  return !text.empty() && text.size() <= kLongestHostname && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7f && kNotInHumanNames.find(c) == std::string_view::npos;
  });
}

}  // namespace cairn
