// SPDX-License-Identifier: BSD-3-Clause
//
// ClientLine: a client's line in CLIENT LIST and CLIENT INFO, with the fields and the order of Redis 7.2, and Valkey's
// capa, tot-net-in, tot-net-out and tot-cmds. Redis 8 has the last three too.
//
// Thread: any; it reads only the parts of a session that any thread may read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "command/session.h"
#include "command/table.h"

namespace cairn {

// The letters of `flags` and `capa`.
std::string ClientFlags(const Session& session);
std::string_view ClientCapabilities(const Session& session);

// Returns one line without a line end. `now_us` is monotonic.
std::string ClientLine(Session& session, const CommandTable& table, int64_t now_us);

}  // namespace cairn
