// SPDX-License-Identifier: BSD-3-Clause
//
// FlushNudge: sees to it that whoever waits for a flush is not left waiting.
//
// With several memtables to a flush (storage/tuning.cc), RocksDB may finish a flush that was asked for by hand with
// fewer memtables than it was asked for, forget that it was asked, and let the caller wait until others write enough
// for the next flush: on a quiet server for ever (its issue 13280, open in 9.7). While this lives it asks again where
// memtables wait and no flush is under way.
//
// Thread: the owner's; the work is done on "flush-nudge".
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
}  // namespace rocksdb

namespace cairn {

class FlushNudge {
 public:
  FlushNudge(rocksdb::DB& db, const std::vector<rocksdb::ColumnFamilyHandle*>& families);
  ~FlushNudge();
  FlushNudge(const FlushNudge&) = delete;
  FlushNudge& operator=(const FlushNudge&) = delete;

 private:
  void Run();
  void NudgeStuck();

  rocksdb::DB& db_;
  const std::vector<rocksdb::ColumnFamilyHandle*>& families_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace cairn
