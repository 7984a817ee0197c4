// SPDX-License-Identifier: BSD-3-Clause
//
// FUNCTION DUMP's payload in Redis's format: for each library a byte 245 and its code as an RDB text, then the footer
// of DUMP (rdb/dump_payload.h). Libraries in the format before Redis 7.0 (byte 246) are not supported.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "script/libraries.h"

namespace cairn {

std::string WriteFunctionPayload(const Libraries& libraries);

// Returns the code of each library. `most_bytes`: the limit for all libraries, which is checked before a code is
// decompressed. The error is the client's reply.
Result<std::vector<std::string>> ReadFunctionPayload(std::string_view payload, uint64_t most_bytes);

}  // namespace cairn
