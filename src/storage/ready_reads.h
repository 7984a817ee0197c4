// SPDX-License-Identifier: BSD-3-Clause
//
// Reads that do not wait: of tables and blob files they take what the kernel has in its page cache, and are refused
// what it would have to fetch from the disk (preadv2(2), RWF_NOWAIT).
//
// RocksDB's own way to read without waiting, kBlockCacheTier, ends at its block cache; most of what a server under a
// memory budget reads again is in the page cache, two microseconds away.
//
//   ReadyOnly ready(lane == Lane::kFast);
//   status = db.Get(...);
//   if (ready.refused()) ...   // whatever the status says
//
// RocksDB goes on without a filter that it cannot read, and has answered "there, and empty" where it could not look;
// so it is the refusal that counts, not what RocksDB made of it.
//
// Thread: any; a ReadyOnly is its thread's.
#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <memory>

namespace cairn {

class OpenTables;

// While it lives, and if it is `on`, no read of this thread waits for the disk.
class ReadyOnly {
 public:
  explicit ReadyOnly(bool on);
  ~ReadyOnly();
  ReadyOnly(const ReadyOnly&) = delete;
  ReadyOnly& operator=(const ReadyOnly&) = delete;

  // How many reads were served; each costs some microseconds, what unpacking a block takes included.
  uint32_t served() const { return served_; }
  // A read would have waited.
  bool refused() const { return refused_; }

 private:
  friend class TableFile;

  const bool on_;
  ReadyOnly* const outer_;
  uint32_t served_ = 0;
  bool refused_ = false;
};

// RocksDB's file system (rocksdb/file_system.h), with files to be read at random that heed ReadyOnly. Files with
// direct I/O have nothing in the page cache: while a ReadyOnly lives, reading them is refused, and so is opening any.
// Those that are open are counted. Tables and blob files are cut down before they are removed (base/remove_file.h).
std::shared_ptr<rocksdb::FileSystem> MakeTableFiles(std::shared_ptr<OpenTables> open_tables);

}  // namespace cairn
