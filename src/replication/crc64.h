// SPDX-License-Identifier: BSD-3-Clause
//
// CRC-64 with the polynomial of David T. Jones (0xad93d23594c935a9), bits reflected, nothing added
// at either end: what Redis puts behind a DUMP payload and an RDB file. The value of "123456789" is
// e9c6d914c4b8d9ca.
//
// Thread: any; a pure function.
#pragma once

#include <cstdint>
#include <string_view>

namespace cairn {

// The checksum of `bytes` after others whose checksum is `crc`.
uint64_t Crc64(std::string_view bytes, uint64_t crc = 0);

}  // namespace cairn
