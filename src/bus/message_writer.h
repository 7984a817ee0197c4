// SPDX-License-Identifier: BSD-3-Clause
//
// Messages -> bytes of the cluster bus.
//
// Thread: any; pure functions.
#pragma once

#include <string>

#include "bus/message.h"

namespace cairn {

// Appends the bytes of a message. The extensions of PING, PONG and MEET follow Redis's order, and their flag is set if
// there are any. What is no IP address (bus/node_text.h) is left empty. REQUIRES: the body belongs to the type; the
// hostname and the human name are empty or valid; there are fewer than 65536 entries of gossip and extensions; the
// message is smaller than 4 GB.
void AppendMessage(std::string& out, const Message& message);

}  // namespace cairn
