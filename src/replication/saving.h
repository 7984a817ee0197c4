// SPDX-License-Identifier: BSD-3-Clause
//
// Saving: makes everything written so far durable, for BGREWRITEAOF, and makes the saves without which the server must
// not end.
//
// Thread: one that may wait.
#pragma once

#include "base/result.h"
#include "stats/server_state.h"

namespace cairn {

class ClientPause;
class MemoryDatabaseSaves;
class RdbSaves;
class Store;

// Syncs the log and flushes the memtables; records time and outcome for INFO.
Status SaveEverything(Store& store, SaveState& saves);

// Waits until every command that now holds a key has committed.
Status AwaitCommits(Store& store);

// The parts that the saves before an end of the server use.
struct ShutdownSaves {
  Store& store;
  ClientPause& pause;
  RdbSaves& rdb;
  MemoryDatabaseSaves& memory_databases;
};

// Whether SaveBeforeShutdown has something to save, so that it waits.
bool SavesBeforeShutdown(const ShutdownSaves& saves, const ShutdownOptions& options);

// Before SHUTDOWN or a signal ends the server: holds writes back, writes an RDB file for SHUTDOWN SAVE, and saves the
// databases in memory, unless NOSAVE or FORCE was given. If a save fails, returns the error for the reply and resumes
// writes; with FORCE it instead clears the save from `options`. Server::Stop saves the databases in memory again if
// they have changed since, or for FORCE.
Status SaveBeforeShutdown(const ShutdownSaves& saves, ShutdownOptions& options);

}  // namespace cairn
