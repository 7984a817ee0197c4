// SPDX-License-Identifier: BSD-3-Clause
//
// DiskRoom: what the room on the disk has to do with RocksDB's work.
//
// On a disk of a few hundred megabytes, logs, memtables and tables of the usual size would be all there is, so they are
// made smaller. Where the disk is nearly full, what was deleted has to leave it soon, and COMPACT goes by small steps.
//
// Thread: any, except where a function says otherwise.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "base/result.h"
#include "storage/engine.h"
#include "storage/recovery.h"
#include "storage/store_options.h"
#include "storage/write_ahead_log.h"

namespace cairn {

// The same with memtables and logs that are a small share of the disk. Disks of 16 GB and more change nothing.
StoreOptions FitToDisk(StoreOptions options);
// What memtables may take together.
uint64_t MostMemtables(const std::string& dir);

class DiskRoom {
 public:
  DiskRoom(Engine& engine, const Recovery& recovery, const WriteAheadLog& log)
      : engine_(engine), recovery_(recovery), log_(log) {}

  // `min-free-disk`; 0: as much as is needed.
  void SetReserve(uint64_t wanted);
  // Looks at what is free; where little is, has what was deleted leave the disk soon. Thread: "cron".
  void Watch();
  // Rewrites everything to the bottom: dead collections, dropped keyspaces and tombstones are gone after it. May take
  // long.
  Status Compact();

 private:
  Status CompactAll();

  Engine& engine_;
  const Recovery& recovery_;
  const WriteAheadLog& log_;
  std::mutex small_steps_mutex_;  // held during a COMPACT that makes small steps
  int64_t flushed_us_ = 0;        // of Watch, as the next
  uint64_t flushed_sequence_ = 0;
};

}  // namespace cairn
