// SPDX-License-Identifier: BSD-3-Clause
//
// xxHash's XXH3, 128 bits, seed 0. Thread: any; values.
#pragma once

#include <cstdint>
#include <string_view>

namespace cairn {

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
};

Hash128 Hash128Of(std::string_view bytes);

}  // namespace cairn
