// SPDX-License-Identifier: BSD-3-Clause
//
// Little-endian integers: Redis's serialisation uses them nearly everywhere, Cairn's own rows nowhere
// (encoding/ordered.h). Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace cairn {

// Appends the `size` low bytes of `value`, little-endian.
inline void AppendLittle(std::string& out, uint64_t value, int size) {
  for (int i = 0; i < size; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace cairn
