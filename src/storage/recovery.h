// SPDX-License-Identifier: BSD-3-Clause
//
// Recovery: how the store handles I/O errors. RocksDB recovers by itself (storage/retryable_files.h). This class shows
// the server whether writes are possible. Where RocksDB cannot recover, it ends the process: acknowledged writes are
// on the disk, and the next start finds them.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "storage/engine.h"

namespace cairn {

class Recovery {
 public:
  explicit Recovery(Engine& engine) : engine_(engine) {}

  // False from a write error that is not retried (a full disk, say) until RocksDB has recovered.
  bool writable() const { return writable_.load(std::memory_order_relaxed); }
  // The error; empty while writable.
  std::string write_error() const;
  // Ends the process if writes are refused because of an I/O error that RocksDB no longer tries to recover from.
  // Cheap; must be called regularly.
  void Watch();

  // ---- storage/ calls these
  // A listener that reports RocksDB's errors and recoveries to this object. It and RocksDB's thread that recovers must
  // not outlive this object.
  std::shared_ptr<rocksdb::EventListener> MakeListener();
  // Ends the process if RocksDB recovers from an I/O error now or during the close: it cannot be closed then. Ends the
  // delays of compactions.
  void PrepareClose();

 private:
  class Listener;
  void NoteError(const rocksdb::Status& error);
  void NoteRecovered();
  void NoteThreadEnd();
  void EndIfLogIsLost(const std::string& error, bool has_recovered);

  Engine& engine_;
  std::atomic<bool> writable_{true};
  std::atomic<bool> is_closing_{false};
  std::atomic<int64_t> seen_us_{0};  // when RocksDB last worked on an error
  mutable Mutex mutex_;
  std::string write_error_ ABSL_GUARDED_BY(mutex_);
  bool has_recovered_ ABSL_GUARDED_BY(mutex_) = false;  // from the last error; the thread may still run
};

}  // namespace cairn
