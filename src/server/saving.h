// SPDX-License-Identifier: BSD-3-Clause
//
// Saving: making everything written so far durable, for BGREWRITEAOF and DEBUG RELOAD.
//
// Thread: one that may wait.
#pragma once

#include "base/result.h"

namespace cairn {

class Server;

// Syncs the log and writes the memtables out; notes the time and the outcome for INFO.
Status SaveEverything(Server& server);

}  // namespace cairn
