// SPDX-License-Identifier: BSD-3-Clause
//
// The footer of a DUMP payload, version:u16 crc:u64 (little-endian), the CRC of all before it: it
// says whether the payload is whole and whether we know its kind. Thread: any; pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cairn {

// Ends a payload that is the bytes of a type and its value.
void AppendDumpFooter(std::string& payload);

// The payload without its footer; none if it is of a newer version than we read, or damaged and its
// checksum is not to be skipped.
std::optional<std::string_view> StripDumpFooter(std::string_view payload, bool skips_checksum = false);

}  // namespace cairn
