// SPDX-License-Identifier: BSD-3-Clause
//
// DiskReserve: `min-free-disk`, the space on the file system that data must not use.
//
// A full disk must not be a dead end. A start after kill -9 writes the rows of the log into tables, and writes a new
// manifest and a new log. A delete is written to the log first; it frees space later, by a compaction that writes its
// output before it deletes its input. All of them need space on a full disk.
//
//   level    left of the reserve              refused
//   kPlenty  all of it                        nothing
//   kLow     less                             commands that may grow (denyoom), RDB files, first transfers
//   kFull    the file and little more         all writes except FLUSHALL and FLUSHDB
//
// Data alone does not lead to kFull: growth stops at kLow, and compactions leave space for deletes. A replica pauses
// its stream when compactions have no space.
//
// The last part of the reserve is a file, `reserve`, that is allocated but never written, so that no other program can
// take its space. It is created when less than four times the reserve is left. It is removed when nothing else
// provides the space that is needed: before the database is opened, for FLUSHALL, and to flush after a failed write.
// Later it is created again. On a file system without fallocate there is no file.
//
// Each turn of the cron asks for the free space; RocksDB's writes are subtracted in between (storage/reserved_files.h).
//
// Thread: any, unless a function says otherwise.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"

namespace cairn {

// The size of a file system and its free space, in bytes.
struct DiskSpace {
  uint64_t total = 0;
  uint64_t free = 0;  // available to this process
};
// All 0 when the file system does not answer.
DiskSpace DiskSpaceOf(const std::string& dir);

// The size of the reserve, in bytes; 0: there is no reserve.
struct ReserveSize {
  uint64_t all = 0;
  uint64_t kept = 0;  // the part that the file holds
};

// `wanted` bytes. If that is 0: the space needed to reopen and to compact, but at most a fifth of the disk. A start
// replays at most `unflushed_bytes`; `table_bytes` is the size of a table.
ReserveSize SizeOfReserve(uint64_t wanted, uint64_t unflushed_bytes, uint64_t table_bytes, uint64_t disk_bytes);

class DiskReserve {
 public:
  enum class Level : unsigned char { kPlenty, kLow, kFull };

  // Removes the file if opening the database may need its space.
  explicit DiskReserve(std::string dir);

  // Called once, before other threads start. The listener gets each change of level, on any thread; must be short.
  void set_listener(std::function<void(Level)> listener) { listener_ = std::move(listener); }
  void SetSize(const ReserveSize& size);

  // Returns kIo from kLow on. For growth that does not come from a command.
  Status CheckGrowth() const;

  // Updates the free space; creates the file, or removes it where there is plenty. Called by the cron.
  void Look();
  // Removes the file if RocksDB has almost no other space.
  void LetGo();

  // `compactions` bytes wait for compaction and `memtables` bytes for a flush. Growth is refused that many bytes
  // earlier (at most the size of the reserve), and compactions leave space for the flushes.
  void SetPending(uint64_t compactions, uint64_t memtables) {
    pending_ = std::min(compactions + memtables, size());
    unflushed_ = memtables;
  }

  // RocksDB has written `bytes`. They are subtracted from the free space until the next Look.
  void NoteWritten(uint64_t bytes);
  // Whether a compaction may write so many bytes and still leave space for flushes and deletes.
  bool HasRoomForCompaction(uint64_t bytes) const;

  // kLow is near: files that are kept only in case they are useful should be deleted.
  bool IsNearlyLow() const { return left_bytes() < LevelEnd(Level::kPlenty) + size() / 2; }
  Level level() const { return level_.load(std::memory_order_relaxed); }
  // "plenty", "low", "full".
  std::string_view level_name() const;
  uint64_t size() const { return all_.load(std::memory_order_relaxed); }
  // The free space of the file system; left_bytes() adds the file.
  uint64_t free_bytes() const;
  uint64_t left_bytes() const { return free_bytes() + held_bytes(); }
  uint64_t held_bytes() const { return held_.load(std::memory_order_relaxed); }

 private:
  std::string FilePath() const { return dir_ + "/reserve"; }
  // The margin that deletes leave beside the file. Compactions leave four: RocksDB keeps the output of a refused
  // compaction for a second, and deletes continue meanwhile.
  uint64_t slack() const { return (all_ - kept_) / 8; }
  // The level ends when less than this is left.
  uint64_t LevelEnd(Level level) const;
  void MakeFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RemoveFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void UpdateLevel() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string dir_;
  std::function<void(Level)> listener_;
  Mutex mutex_;
  bool can_allocate_ ABSL_GUARDED_BY(mutex_) = true;
  std::atomic<uint64_t> all_{0};
  std::atomic<uint64_t> kept_{0};
  std::atomic<uint64_t> held_{0};
  std::atomic<uint64_t> pending_{0};
  std::atomic<uint64_t> unflushed_{0};
  std::atomic<int64_t> free_{INT64_MAX};
  std::atomic<Level> level_{Level::kPlenty};
};

}  // namespace cairn
