// SPDX-License-Identifier: BSD-3-Clause
//
// ClientLine: a client as CLIENT LIST and CLIENT INFO show it, in the fields and the order of
// Redis 7.2.
//
// Thread: any; it reads what a session lets anybody read.
#pragma once

#include <cstdint>
#include <string>

#include "command/session.h"
#include "command/table.h"

namespace cairn {

// One line without its end. `now_us` is monotonic.
std::string ClientLine(Session& session, const CommandTable& table, int64_t now_us);

}  // namespace cairn
