// SPDX-License-Identifier: BSD-3-Clause
//
// Intset: Redis's encoding of a set of integers in RDB payloads.
//
//   intset   width:u32 count:u32 integers   little-endian; width is 2, 4 or 8, the bytes of each
//                                           integer; ascending, two's complement
//
// Example: {1, 2} = 02000000 02000000 0100 0200
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rdb/rdb_items.h"

namespace cairn {

// Appends the members of an intset to `items`. The intset must fill `bytes`.
Status ReadIntset(std::string_view bytes, RdbItems& items);

// REQUIRES: ascending and distinct.
std::string WriteIntset(std::span<const int64_t> integers);

}  // namespace cairn
