// SPDX-License-Identifier: BSD-3-Clause
//
// The footer of a DUMP payload, version:u16 crc:u64 (little-endian), with the CRC of all bytes before it. It shows
// whether the payload is complete and of a known version. Thread: any; pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rdb/rdb_dialect.h"

namespace cairn {

// Appends the footer to a payload of a type and its value.
void AppendDumpFooter(std::string& payload);

struct DumpValue {
  std::string_view bytes;  // the type and its value
  RdbDialect dialect = RdbDialect::kRedis;
};

// Returns the payload without its footer; nullopt if its version is too new, or if it is damaged and `skips_checksum`
// is not set. A CRC of 0 in a payload of Redis's version 13 or later means that it was not computed.
std::optional<DumpValue> StripDumpFooter(std::string_view payload, bool skips_checksum = false);

}  // namespace cairn
