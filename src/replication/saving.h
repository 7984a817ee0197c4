// SPDX-License-Identifier: BSD-3-Clause
//
// Saving: making everything written so far durable, for BGREWRITEAOF, and what comes before a save that must have
// everything: SHUTDOWN's.
//
// Thread: one that may wait.
#pragma once

#include "base/result.h"
#include "stats/server_state.h"

namespace cairn {

class ClientPause;
class RdbSaves;
class Store;

// Syncs the log and writes the memtables out; notes the time and the outcome for INFO.
Status SaveEverything(Store& store, SaveState& saves);

// Waits until every command that holds a key now is committed.
Status AwaitCommits(Store& store);

// What SHUTDOWN SAVE does before the server ends: writes are held back from here on, and an RDB file is written. When
// that fails, the error is the reply, and writes are let in again; or, with FORCE, `options` no longer ask for it.
Status SaveBeforeShutdown(Store& store, ClientPause& pause, RdbSaves& rdb_saves, ShutdownOptions& options);

}  // namespace cairn
