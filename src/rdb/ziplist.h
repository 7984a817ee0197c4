// SPDX-License-Identifier: BSD-3-Clause
//
// Ziplist and zipmap: Redis's encodings of small collections before versions 7 and 2.6. They are only read.
//
//   ziplist   total:u32 tail:u32 count:u16 entries ff   little-endian; tail is where the last entry
//                                                       starts; a count of 65535 says that there
//                                                       are so many or more
//   entry     the size of the entry before it (0 for the first), u8, or fe and u32 for 254 and
//             more; then
//             00nnnnnn bytes            a text of n bytes
//             01nnnnnn nnnnnnnn bytes   a text of n bytes, n big-endian
//             80 n:u32 bytes            a text of n bytes, n big-endian
//             c0, f0, d0, e0, fe        an integer of 16, 24, 32, 64 or 8 bits follows
//             f1 to fd                  an integer from 0 to 12
//
//   zipmap    count:u8 entries ff       a count of 254 means this many or more
//   entry     n, field of n bytes, n, free:u8, value of n bytes, `free` unused bytes; n is u8,
//             or fe and u32 (little-endian) for 254 and more
//
// Reading checks all redundant fields. Thread: any; pure functions.
#pragma once

#include <string_view>

#include "base/result.h"
#include "rdb/rdb_items.h"

namespace cairn {

// Append the entries of a ziplist, or the fields and values of a zipmap, to `items`, which may view them. The container
// must fill `bytes`.
Status ReadZiplist(std::string_view bytes, RdbItems& items);
Status ReadZipmap(std::string_view bytes, RdbItems& items);

}  // namespace cairn
