// SPDX-License-Identifier: BSD-3-Clause
//
// FUNCTION DUMP's payload, as Redis writes it: for each library a byte 245 and its code as an RDB text, then the footer
// of DUMP (rdb/dump_payload.h). A library of the form before Redis 7.0 (byte 246) is not read.
//
// Thread: any; pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "script/libraries.h"

namespace cairn {

std::string WriteFunctionPayload(const Libraries& libraries);

// The codes of the libraries. The error is the client's reply.
Result<std::vector<std::string>> ReadFunctionPayload(std::string_view payload);

}  // namespace cairn
