// SPDX-License-Identifier: BSD-3-Clause
//
// Settings that allow something to no client, to all clients, or to clients on this machine.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "command/session.h"

namespace cairn {

// A client on a Unix socket has the peer "/path:0".
bool IsUnixPeer(std::string_view peer);

// Whether the peer is on this machine.
bool IsLocalPeer(std::string_view peer);

// Whether the setting (Allowed) includes this client.
bool IsAllowed(const std::atomic<int64_t>& setting, Session& session);

}  // namespace cairn
