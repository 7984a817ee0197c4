// SPDX-License-Identifier: BSD-3-Clause
//
// ISA-L's checksums (isa-l/crc.h, isa-l/crc64.h): tens of bytes in a cycle where the processor can, which is looked up
// at run time. Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace isal {

// CRC-32C (RFC 3720) of `bytes` after others whose checksum is `crc`.
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);

// CRC-64 with the polynomial of David T. Jones (0xad93d23594c935a9), bits reflected, nothing added at either end, of
// `bytes` after others whose checksum is `crc`: what Redis puts behind a DUMP payload and an RDB file.
uint64_t Crc64Jones(std::string_view bytes, uint64_t crc = 0);

}  // namespace isal
