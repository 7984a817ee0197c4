// SPDX-License-Identifier: BSD-3-Clause
//
// Reads that do not wait: they get data of tables and blob files that is in the kernel's page cache, and are refused
// data that must be read from the disk (preadv2(2), RWF_NOWAIT).
//
// RocksDB's own way to read without waiting, kBlockCacheTier, only uses its block cache. Under a memory budget, most
// data that is read again is in the page cache, two microseconds away.
//
// A refused read is not lost: since Linux 5.9 the kernel starts to read the data from the disk, so that a later read
// waits less or not at all.
//
//   ReadyOnly ready(lane == Lane::kFast);
//   status = db.Get(...);
//   if (ready.refused()) ...   // whatever the status is
//
// RocksDB continues without a filter that it cannot read, and has returned "found, empty" for rows that it could not
// read. So the refusal counts and not RocksDB's status.
//
// Thread: any; a ReadyOnly belongs to its thread.
#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <memory>

namespace cairn {

class OpenTables;

// While it lives, no read of this thread waits for the disk, provided `on` is true.
class ReadyOnly {
 public:
  // Whether RocksDB's statistics count the look-ups meanwhile. A look-up that only starts a read is not counted: the
  // one that uses the data is.
  enum class Statistics : unsigned char { kCounted, kNotCounted };

  explicit ReadyOnly(bool on, Statistics statistics = Statistics::kCounted);
  ~ReadyOnly();
  ReadyOnly(const ReadyOnly&) = delete;
  ReadyOnly& operator=(const ReadyOnly&) = delete;

  // The number of reads served. Each costs some microseconds, including decompression of the block.
  uint32_t served() const { return served_; }
  // Whether a read was refused because it would have waited.
  bool refused() const { return refused_; }
  // Whether RocksDB's statistics count what this thread does now.
  static bool IsCounted();

 private:
  friend class TableFile;

  const bool on_;
  const Statistics statistics_;
  ReadyOnly* const outer_;
  uint32_t served_ = 0;
  bool refused_ = false;
};

// RocksDB's file system (rocksdb/file_system.h), with random-access files that obey ReadyOnly. Files with direct I/O
// have no data in the page cache: while a ReadyOnly lives, reading them is refused. Opening any file is refused too.
// The file system counts open files. It deletes tables and blob files in steps (base/remove_file.h).
std::shared_ptr<rocksdb::FileSystem> MakeTableFiles(std::shared_ptr<OpenTables> open_tables);

}  // namespace cairn
