// SPDX-License-Identifier: BSD-3-Clause
//
// Saving: makes everything written so far durable, for BGREWRITEAOF, and prepares a save that must be complete, that of
// SHUTDOWN.
//
// Thread: one that may wait.
#pragma once

#include "base/result.h"
#include "stats/server_state.h"

namespace cairn {

class ClientPause;
class RdbSaves;
class Store;

// Syncs the log and flushes the memtables; records time and outcome for INFO.
Status SaveEverything(Store& store, SaveState& saves);

// Waits until every command that now holds a key has committed.
Status AwaitCommits(Store& store);

// SHUTDOWN SAVE before the server ends: holds writes back and writes an RDB file. If the save fails, returns the error
// for the reply and resumes writes; with FORCE it instead clears the save from `options`.
Status SaveBeforeShutdown(Store& store, ClientPause& pause, RdbSaves& rdb_saves, ShutdownOptions& options);

}  // namespace cairn
