// SPDX-License-Identifier: BSD-3-Clause
//
// ClientLine: a client's line in CLIENT LIST and CLIENT INFO, with the fields and the order of Redis 7.2, and tot-cmds
// of Redis 8 and Valkey.
//
// Thread: any; it reads only the parts of a session that any thread may read.
#pragma once

#include <cstdint>
#include <string>

#include "command/session.h"
#include "command/table.h"

namespace cairn {

// The letters of `flags`.
std::string ClientFlags(const Session& session);

// Returns one line without a line end. `now_us` is monotonic.
std::string ClientLine(Session& session, const CommandTable& table, int64_t now_us);

}  // namespace cairn
