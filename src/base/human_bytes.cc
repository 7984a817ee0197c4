// SPDX-License-Identifier: BSD-3-Clause
#include "base/human_bytes.h"

#include <fmt/format.h>

#include <string_view>

namespace cairn {

std::string HumanBytes(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{}B", bytes);
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  constexpr std::string_view kUnits = "BKMGTPE";
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.2f}{}", value, kUnits[unit]);
}

}  // namespace cairn
