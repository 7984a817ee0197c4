// SPDX-License-Identifier: BSD-3-Clause
//
// FlushNudge: asks again for flushes that RocksDB has forgotten, so that their callers do not wait for ever.
//
// With several memtables to a flush (storage/tuning.cc), RocksDB may finish a flush that was asked for by hand with
// fewer memtables than it was asked for, forget that it was asked, and let the caller wait until others write enough
// for the next flush: on a quiet server for ever (its issue 13280, open in 9.7). While this lives it asks again where
// memtables wait and no flush is under way.
//
// Thread: the owner's; the work is done on "flush-nudge".
#pragma once

#include <vector>

#include "base/repeating_thread.h"

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
}  // namespace rocksdb

namespace cairn {

class FlushNudge {
 public:
  FlushNudge(rocksdb::DB& db, const std::vector<rocksdb::ColumnFamilyHandle*>& families);

 private:
  void NudgeStuck();

  rocksdb::DB& db_;
  const std::vector<rocksdb::ColumnFamilyHandle*>& families_;
  RepeatingThread thread_;
};

// LostFlushWatch: ends the process when RocksDB has lost a flush that it waits for itself.
//
// A flush that a thread is about to begin when another job fails with an error of the database is given up, but its
// request stays in RocksDB's queue, and no thread is sent for it (BackgroundFlush, 7.8). DB::Resume then waits for a
// flush of that column family for ever, and nothing from outside can take the request out of the queue. While this
// lives, such a request that no thread works on for `patience` ends the process.
//
// Thread: as FlushNudge's, on "flush-watch".
class LostFlushWatch {
 public:
  LostFlushWatch(rocksdb::DB& db, const std::vector<rocksdb::ColumnFamilyHandle*>& families,
                 std::chrono::milliseconds patience = std::chrono::seconds(5));

 private:
  bool HasIdleRequest() const;
  void Look();

  rocksdb::DB& db_;
  const std::vector<rocksdb::ColumnFamilyHandle*>& families_;
  const std::chrono::milliseconds patience_;
  std::chrono::milliseconds idle_for_{0};
  RepeatingThread thread_;
};

}  // namespace cairn
