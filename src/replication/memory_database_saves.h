// SPDX-License-Identifier: BSD-3-Clause
//
// MemoryDatabaseSaves: keeps the databases with storage-mode memory in an RDB file of the data directory,
// memory-databases.rdb, if `memory-databases-save` asks for it. A thread writes the file in the background every so
// many seconds if these databases have changed, and the server writes it when it stops. A start loads it.
//
// A crash loses the changes since the last file. The file holds one moment of all these databases. The keys of a
// database that is no longer in memory are skipped at the start, with a warning: its data is on the disk. If the load
// fails, the file is never written: it has keys that this server lacks.
//
// Thread: Load and Stop belong to the start and the end of the server, Watch to "cron"; any may call the others. The
// file is written by a thread of its own (replication/rdb_saves.h), or by the caller of SaveAtEnd.
#pragma once

#include <cstdint>

#include "base/mutex.h"
#include "base/result.h"
#include "replication/rdb_saves.h"

namespace cairn {

class MemoryDatabaseSaves {
 public:
  MemoryDatabaseSaves(Store& store, Config& config)
      : store_(store), config_(config), saves_(store, config, RdbSaveContent::kMemoryDatabases) {}

  // Loads the file into the databases in memory. The error is for the operator. REQUIRES: no client is served yet.
  Status Load();
  // Called periodically; cheap. Starts a save if the interval has passed and something has changed.
  void Watch();
  // Whether SaveAtEnd would write the file: something has changed since the last save, or that save has failed or is
  // still running.
  bool HasUnsaved() const;
  // Saves now if something is unsaved, and waits for it. An error is the reply; the log has the reason.
  Status SaveAtEnd();
  // Aborts a running save; no save starts afterwards.
  void Stop() { saves_.Stop(); }

  // The outcome of the last save.
  const SaveState& state() const { return saves_.state(); }

 private:
  // Differs after any change to the databases in memory.
  struct Version {
    uint64_t sequence = 0;
    uint64_t keyspaces = 0;
    bool operator==(const Version&) const = default;
  };

  Status LoadFile();
  Version Present() const;
  void NoteSaved(const Version& version);
  int64_t IntervalMs() const;

  Store& store_;
  Config& config_;
  RdbSaves saves_;
  bool is_loaded_ = false;  // Load has succeeded
  int64_t looked_ms_ = 0;   // when Watch last looked for changes, or the load ended
  mutable Mutex mutex_;
  Version saved_ ABSL_GUARDED_BY(mutex_);  // at the start of the last save
};

}  // namespace cairn
