// SPDX-License-Identifier: BSD-3-Clause
//
// CacheWarmup: brings back after a restart what was hot in the key cache (docs/decisions/warmup.md).
//
// The names of the hottest rows are written to a file now and then and at the end (storage/hot_rows_file.h). A start
// reads these rows from RocksDB in the order of their keys, many at a time, and inserts them into the key cache until
// it is nearly full. The server serves meanwhile: a row that is not read yet is a miss as any other.
//
// Invariant: the cache never gets an older value than the committed one. As for any row that is read from the disk, the
// stripe's version is noted before the read, and the row is inserted only if the stripe can be locked and the version
// is the same.
//
// Thread: any; the work is done on "warm-up", at a low priority.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "cache/row_names.h"
#include "encoding/row_key.h"

namespace cairn {

class Store;
class Transaction;

class CacheWarmup {
 public:
  // kStarting: the file is being read; kNone: nothing was saved; kOff: it is switched off; kFailed: the file is
  // damaged.
  enum class State : unsigned char { kStarting, kNone, kOff, kLoading, kDone, kFailed };

  struct Progress {
    State state = State::kStarting;
    uint64_t names = 0;   // in the file
    uint64_t bytes = 0;   // of memory that the names take now
    uint64_t looked = 0;  // of them, so far
    uint64_t rows = 0;    // inserted
    int64_t took_ms = 0;  // so far
    uint64_t saved = 0;   // names in the file that was written last; 0: none since the start
    int64_t save_us = 0;  // what writing it took
  };

  explicit CacheWarmup(Store& store);
  ~CacheWarmup();

  // Whether rows are read and names are written. Off ends a warm-up.
  void Enable(bool on) { is_on_ = on; }
  // Called once, after Enable.
  void Start();
  // Ends the thread within one batch; `saves`: and writes the names. The store is not used afterwards.
  void Stop(bool saves);

  Progress progress() const;
  static const char* NameOf(State state);

 private:
  // A row to insert: its key with the stripe, and the stripe's version before the row was read.
  struct Wanted {
    RowKey row;
    uint64_t version;
  };

  void Run();
  void Load();
  State LoadRows(const HotRows& rows);
  // False if the work must end.
  bool LoadNames(const RowNames& names, bool is_kept);
  void LoadBatch(std::span<const std::string_view> names, bool is_kept);
  std::vector<Wanted> Observe(std::span<const std::string_view> names);
  std::vector<Wanted> ObserveKeys(std::span<const std::string_view> names);
  std::vector<Wanted> ObserveElements(std::span<const std::string_view> names);
  void Admit(const Wanted& wanted, std::string_view value, bool is_kept);
  void Save();
  bool HasEnded() const;  // the warm-up
  bool IsFull() const;
  size_t MostBytes() const;
  bool Sleep(int64_t ms);

  Store& store_;
  std::unique_ptr<const Transaction> owner_;  // the name under which the thread locks stripes; it has no rows
  std::atomic<bool> is_on_{true};
  uint64_t looks_ = 0;  // look-ups in the cache before the last save
  mutable Mutex mutex_;
  CondVar wake_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Progress progress_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace cairn
