// SPDX-License-Identifier: BSD-3-Clause
//
// Upkeep: the background work of an embedded database, which a server's cron does: it deletes expired keys, syncs the
// log, frees dropped rows, and watches the disk and RocksDB's errors.
//
// Thread: it has one of its own, `upkeep`; Stop ends it.
#pragma once

#include <cstdint>
#include <thread>

#include "base/mutex.h"
#include "storage/store.h"
#include "types/limits.h"

namespace cairn {

class Upkeep {
 public:
  // `syncs`: whether the log is synced each second. The store and the limits must outlive this object.
  Upkeep(Store& store, const Limits& limits, bool syncs);
  ~Upkeep() { Stop(); }
  // Ends the work; a second call does nothing.
  void Stop();

 private:
  void Run();
  bool Sleep();
  void SyncLog();

  Store& store_;
  const Limits& limits_;
  const bool syncs_;
  Mutex mutex_;
  CondVar wake_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace cairn
