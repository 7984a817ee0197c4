// SPDX-License-Identifier: BSD-3-Clause
//
// ClientLine: a client's line in CLIENT LIST and CLIENT INFO, with the fields and the order of Redis 7.2.
//
// Thread: any; it reads only the parts of a session that any thread may read.
#pragma once

#include <cstdint>
#include <string>

#include "command/session.h"
#include "command/table.h"

namespace cairn {

// Returns one line without a line end. `now_us` is monotonic.
std::string ClientLine(Session& session, const CommandTable& table, int64_t now_us);

}  // namespace cairn
