// SPDX-License-Identifier: BSD-3-Clause
//
// Settings that allow something to nobody, to everybody, or to clients on this machine.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "command/session.h"

namespace cairn {

// "/path:0" is how the peer of a Unix socket is written.
bool IsUnixPeer(std::string_view peer);

// Does the peer stand on this machine?
bool IsLocalPeer(std::string_view peer);

// Is the client one of those that the setting (Allowed) means: nobody, everybody, who stands on this machine?
bool IsAllowed(const std::atomic<int64_t>& setting, Session& session);

}  // namespace cairn
