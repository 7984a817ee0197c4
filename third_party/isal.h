// SPDX-License-Identifier: BSD-3-Clause
//
// ISA-L's checksums (isa-l/crc.h, isa-l/crc64.h): tens of bytes per cycle if the processor supports it, which is
// detected at run time. Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace isal {

// CRC-32C (RFC 3720) of `bytes`; `crc` is the checksum of the preceding bytes.
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);

// CRC-64 with the polynomial of David T. Jones (0xad93d23594c935a9), reflected, without inversions. Redis appends it to
// a DUMP payload and an RDB file. `crc` is the checksum of the bytes that precede `bytes`.
uint64_t Crc64Jones(std::string_view bytes, uint64_t crc = 0);

}  // namespace isal
