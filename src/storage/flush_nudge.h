// SPDX-License-Identifier: BSD-3-Clause
//
// FlushNudge: makes sure that a thread that waits for a flush is not blocked for ever.
//
// When a flush covers several memtables (storage/tuning.cc), RocksDB may end a manual flush with fewer memtables than
// requested and forget the request. The caller then waits until other writes cause the next flush: for ever on a quiet
// server (RocksDB issue 13280, open in 9.7). While a FlushNudge lives, it requests the flush again whenever memtables
// wait and no flush is running.
//
// Thread: the owner's; the work runs on "flush-nudge".
#pragma once

#include <thread>
#include <vector>

#include "base/mutex.h"

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
}  // namespace rocksdb

namespace cairn {

class FlushNudge {
 public:
  FlushNudge(rocksdb::DB& db, std::vector<rocksdb::ColumnFamilyHandle*> families);
  ~FlushNudge();
  FlushNudge(const FlushNudge&) = delete;
  FlushNudge& operator=(const FlushNudge&) = delete;

 private:
  void Run();
  void NudgeStuck();

  rocksdb::DB& db_;
  const std::vector<rocksdb::ColumnFamilyHandle*> families_;
  Mutex mutex_;
  CondVar wake_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace cairn
