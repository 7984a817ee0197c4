// SPDX-License-Identifier: BSD-3-Clause
//
// LinkSeams: what the functions of link_seams.cc use. One simulation runs at a time in a process.
//
// Thread: set while no store is open.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace rocksdb {
class FileSystem;
}

namespace cairn::simulation {

struct LinkSeams {
  std::shared_ptr<rocksdb::FileSystem> disk;         // of the stores that are opened; null: the system's
  std::function<void(std::string_view why)> on_end;  // instead of the end of the process; must not return
  std::function<bool(int fd)> on_fdatasync;          // of Cairn's own syncs of log files; returns whether it succeeds
  std::function<void()> on_wait;                     // often, while the simulation waits for RocksDB's threads
  int lost_threads = 0;                              // of each of RocksDB's pools: those of a process that has ended
  uint64_t fast_lane_steps = UINT64_MAX;             // the work budget of the next fast lane commands
};

inline LinkSeams seams;

}  // namespace cairn::simulation
