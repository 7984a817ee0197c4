// SPDX-License-Identifier: BSD-3-Clause
//
// Recovery: what the store does about I/O errors. RocksDB recovers by itself (storage/retryable_files.h). Here is what
// the server sees of it, and what happens where RocksDB cannot: the process ends, for what was acknowledged is on the
// disk and a start finds it.
//
// Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "storage/engine.h"

namespace cairn {

class Recovery {
 public:
  explicit Recovery(Engine& engine) : engine_(engine) {}

  // False after a write failed for good (a full disk, say) until RocksDB has recovered.
  bool writable() const { return writable_.load(std::memory_order_relaxed); }
  // Why not; empty when it is.
  std::string write_error() const;
  // Ends the process when writes are refused because of an I/O error and RocksDB no longer works on it. Cheap; to be
  // called now and then.
  void Watch();

  // ---- storage/ calls these
  // Tells this of RocksDB's errors and of their end. It must not outlive this.
  std::shared_ptr<rocksdb::EventListener> MakeListener();
  // Ends the process when RocksDB recovers from an I/O error, now or later while it closes: it could not be closed.
  void PrepareClose();

 private:
  class Listener;
  void NoteError(const rocksdb::Status& error);
  void NoteRecovered();
  void EndIfLogIsLost(const std::string& error, bool has_recovered);

  Engine& engine_;
  std::atomic<bool> writable_{true};
  std::atomic<bool> is_closing_{false};
  std::atomic<int64_t> seen_us_{0};  // when RocksDB was last seen to work on an error
  mutable std::mutex mutex_;
  std::string write_error_;  // guarded by mutex_
};

}  // namespace cairn
