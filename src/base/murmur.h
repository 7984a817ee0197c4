// SPDX-License-Identifier: BSD-3-Clause
//
// MurmurHash2 (A. Appleby): the hashes of Redis's HyperLogLogs and of the filters and sketches of RedisBloom. They
// decide which cells an item has, so they are a part of the on-disk format and never change.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace cairn {

// MurmurHash64A.
uint64_t Murmur64(std::string_view bytes, uint64_t seed);

// MurmurHash2, 32 bits.
uint32_t Murmur32(std::string_view bytes, uint32_t seed);

}  // namespace cairn
