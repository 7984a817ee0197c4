// SPDX-License-Identifier: BSD-3-Clause
//
// DiskRoom: fits RocksDB's work to the space on the disk.
//
// Logs, memtables and tables of the usual size would fill a disk of a few hundred megabytes, so they are made smaller
// there. On a nearly full disk, deleted data is removed soon.
//
// Thread: any, except where a function says otherwise.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "storage/engine.h"
#include "storage/recovery.h"
#include "storage/store_options.h"
#include "storage/write_ahead_log.h"

namespace cairn {

// The options with memtables and logs limited to a small share of the disk. No change for disks of 16 GB or more.
StoreOptions FitToDisk(StoreOptions options);
// The limit for all memtables together.
uint64_t MostMemtables(const std::string& dir);

class DiskRoom {
 public:
  DiskRoom(Engine& engine, const Recovery& recovery, const WriteAheadLog& log)
      : engine_(engine), recovery_(recovery), log_(log) {}

  // `min-free-disk`; 0: computed from the need.
  void SetReserve(uint64_t wanted);
  // Updates the free space; when little is left, flushes so that deleted data is removed soon. Thread: "cron".
  void Watch();

 private:
  Engine& engine_;
  const Recovery& recovery_;
  const WriteAheadLog& log_;
  int64_t flushed_us_ = 0;  // this and the next belong to Watch
  uint64_t flushed_sequence_ = 0;
};

}  // namespace cairn
