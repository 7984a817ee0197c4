// SPDX-License-Identifier: BSD-3-Clause
//
// ReadFaults: lets a disk fail reads of tables and blob files, which Cairn does with preadv2(2) and not through
// RocksDB's file system (storage/ready_reads.h).
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "simulation/disk.h"

namespace cairn::simulation {

class ReadFaults {
 public:
  // From now on this disk is asked before each read of its files; null: none.
  void Ask(std::shared_ptr<Disk> disk);
  // Whether a read of this file fails.
  bool Hits(int fd);
  uint64_t hits() const { return hits_; }

 private:
  std::atomic<bool> asks_{false};
  std::atomic<uint64_t> hits_{0};
  Mutex mutex_;
  std::shared_ptr<Disk> disk_ ABSL_GUARDED_BY(mutex_);
};

inline ReadFaults read_faults;

}  // namespace cairn::simulation
