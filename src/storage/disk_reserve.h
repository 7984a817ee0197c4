// SPDX-License-Identifier: BSD-3-Clause
//
// DiskReserve: `min-free-disk`, the room on the file system that data may not grow into.
//
// A full disk must not be a dead end. A start after kill -9 writes the rows of the log into tables, a new manifest and
// a new log. A delete is written to the log first and frees space later, by a compaction that writes its output before
// its input goes. All of them need room when there is none.
//
//   level    what is left of the reserve      what is refused
//   kPlenty  all of it                        nothing
//   kLow     less                             commands that may grow (denyoom), RDB files, first transfers
//   kFull    the file and little more         all writes but FLUSHALL and FLUSHDB
//
// Data alone does not lead to kFull: growth stops at kLow, and compactions leave room for deletes. A replica pauses its
// stream when compactions have no room.
//
// The last part of the reserve is a file, `reserve`, that is allocated and never written, so that no other program can
// take it. It is made when less than four times the reserve is left. It is removed when its room is needed and there is
// no other: before the database is opened, for FLUSHALL, and after a failed write, to flush. Afterwards it is made
// again. Where the file system cannot allocate, there is no file.
//
// What is free is asked every tick, and counted down by RocksDB's writes in between (storage/reserved_files.h).
//
// Thread: any, where a function says nothing else.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn {

// Of a file system.
struct DiskSpace {
  uint64_t total = 0;
  uint64_t free = 0;  // to this process
};
// All 0 when it cannot be asked.
DiskSpace DiskSpaceOf(const std::string& dir);

// How large the reserve is, in bytes; 0: there is none.
struct ReserveSize {
  uint64_t all = 0;
  uint64_t kept = 0;  // of it, by the file
};

// `wanted` bytes; where that is 0, what reopening and compacting need, and a fifth of the disk at most.
// `unflushed_bytes` are the most that a start has to replay, `table_bytes` the size of a table.
ReserveSize SizeOfReserve(uint64_t wanted, uint64_t unflushed_bytes, uint64_t table_bytes, uint64_t disk_bytes);

class DiskReserve {
 public:
  enum class Level : unsigned char { kPlenty, kLow, kFull };

  // Removes the file if the database may need its room to be opened.
  explicit DiskReserve(std::string dir);

  // Called once, before there are other threads. Hears of every change, from any thread; must be short.
  void set_listener(std::function<void(Level)> listener) { listener_ = std::move(listener); }
  void SetSize(const ReserveSize& size);

  // kIo from kLow on, for what is not a command.
  Status CheckGrowth() const;

  // Asks the file system; makes the file, or removes it where there is plenty. Called every tick.
  void Look();
  // Gives RocksDB the file's room if there is next to no other.
  void LetGo();

  // `compactions` bytes wait to be compacted and `memtables` bytes to be flushed. Growth is refused so much earlier, by
  // as much as the reserve at most, and compactions leave room for the flushes.
  void SetPending(uint64_t compactions, uint64_t memtables) {
    pending_ = std::min(compactions + memtables, size());
    unflushed_ = memtables;
  }

  // RocksDB has written so many bytes; what is free is counted down by them until the next Look.
  void NoteWritten(uint64_t bytes);
  // Whether the output of a compaction may take so much. It leaves room for flushes and for deletes.
  bool HasRoomForCompaction(uint64_t bytes) const;

  // What is kept only in case it is of use is given up: kLow is near.
  bool IsNearlyLow() const { return left_bytes() < LevelEnd(Level::kPlenty) + size() / 2; }
  Level level() const { return level_.load(std::memory_order_relaxed); }
  // "plenty", "low", "full".
  std::string_view level_name() const;
  uint64_t size() const { return all_.load(std::memory_order_relaxed); }
  // Free on the file system, and held by the file.
  uint64_t free_bytes() const;
  uint64_t left_bytes() const { return free_bytes() + held_bytes(); }
  uint64_t held_bytes() const { return held_.load(std::memory_order_relaxed); }

 private:
  std::string FilePath() const { return dir_ + "/reserve"; }
  // Beside the file, deletes leave one of these alone, and compactions four: RocksDB keeps the output of a refused
  // compaction for a second, and deletes go on meanwhile.
  uint64_t slack() const { return (all_ - kept_) / 8; }
  // What is left when it is over.
  uint64_t LevelEnd(Level level) const;
  // With mutex_ held:
  void MakeFile();
  void RemoveFile();
  void UpdateLevel();

  const std::string dir_;
  std::function<void(Level)> listener_;
  std::mutex mutex_;
  bool can_allocate_ = true;  // guarded by mutex_
  std::atomic<uint64_t> all_{0};
  std::atomic<uint64_t> kept_{0};
  std::atomic<uint64_t> held_{0};
  std::atomic<uint64_t> pending_{0};
  std::atomic<uint64_t> unflushed_{0};
  std::atomic<int64_t> free_{INT64_MAX};
  std::atomic<Level> level_{Level::kPlenty};
};

}  // namespace cairn
