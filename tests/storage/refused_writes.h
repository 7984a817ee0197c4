// SPDX-License-Identifier: BSD-3-Clause
//
// A store that refuses writes, as while RocksDB recovers from an I/O error: RocksDB's reports, without an error.
#pragma once

#include <rocksdb/listener.h>

#include <functional>
#include <thread>

#include "storage/store.h"

namespace cairn {

inline void RefuseWrites(Store& store) {
  rocksdb::Status error = rocksdb::Status::NoSpace();
  store.recovery().MakeListener()->OnBackgroundError(rocksdb::BackgroundErrorReason::kFlush, &error);
}

// Ends the recovery. `before_end` runs after RocksDB's report of the end, before the end of RocksDB's thread.
inline void AcceptWrites(
    Store& store, const std::function<void()>& before_end = [] {}) {
  std::thread([&] {
    store.recovery().MakeListener()->OnErrorRecoveryEnd({});
    before_end();
  }).join();
}

}  // namespace cairn
