// SPDX-License-Identifier: BSD-3-Clause
//
// ClientLine: a client as CLIENT LIST and CLIENT INFO show it, in the fields and the order of
// Redis 7.2.
//
// Thread: any; it reads what a session lets anybody read.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "command/session.h"
#include "command/table.h"

namespace cairn {

// One line without its end. `now_us` is monotonic.
std::string ClientLine(Session& session, const CommandTable& table, int64_t now_us);

// "/path:0" is how the peer of a Unix socket is written.
bool IsUnixPeer(std::string_view peer);

// Does the peer stand on this machine?
bool IsLocalPeer(std::string_view peer);

// Is the client one of those that the setting (Allowed) means: nobody, everybody, who stands on this machine?
bool IsAllowed(const std::atomic<int64_t>& setting, Session& session);

}  // namespace cairn
