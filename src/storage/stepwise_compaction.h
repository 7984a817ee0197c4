// SPDX-License-Identifier: BSD-3-Clause
//
// StepwiseCompaction: compacts the rows of a range in steps of a few tables (rocksdb::DB::CompactFiles).
//
// A manual compaction (CompactRange) moves all files of level 0 and all tables below them in one step. Files pile up in
// level 0 meanwhile, until RocksDB stops the writes; and a step that is interrupted loses its work. A step here lasts
// seconds, so automatic compactions hardly wait, and what is done stays done (docs/decisions/compaction-pace.md).
//
// A table of level n is merged into the tables of level n + 1 that it overlaps, from the top to the last level, until
// no row that was there at the start is above the last level. A table that an automatic compaction takes is left to it.
//
// Thread: one that may wait for long.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/compaction_scope.h"

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
struct SstFileMetaData;
}  // namespace rocksdb

namespace cairn {

class StepwiseCompaction {
 public:
  struct Parts {
    rocksdb::DB& db;
    rocksdb::ColumnFamilyHandle* family;
    const CompactionRange& range;
    bool rewrites_bottom;   // also the tables of the last level, which may have rows that died without a tombstone
    uint32_t most_threads;  // of a step; 0: as many as other compactions have
    // Called before each step, with true after a pass in which no step was possible. Waits for a good moment; an error
    // ends the compaction.
    std::function<Status(bool is_stuck)> await_turn;
    std::function<void(uint64_t read_bytes, uint64_t written_bytes)> count;
  };

  explicit StepwiseCompaction(Parts parts);
  // Flushes the memtables and compacts.
  Status Run();

 private:
  using Files = std::vector<rocksdb::SstFileMetaData>;

  Status Flush();
  // The tables of the level that are in the range and for which `is_wanted` holds, in the order of their rows.
  Files FilesOf(int level, const std::function<bool(const rocksdb::SstFileMetaData&)>& is_wanted) const;
  int LevelBelow(int level) const;
  Status MoveDown(int level);
  Status RewriteBottom();
  // Merges the tables into a level. Returns false if a compaction takes or has taken one of them.
  Result<bool> Step(const std::vector<std::string>& names, int level);
  // Lets other compactions go on after a pass in which no step was possible. Returns RocksDB's error if it has
  // refused all steps for long: RocksDB has one error code for a missing table and for other causes.
  Status AwaitOthers();

  const Parts parts_;
  const int last_level_;
  uint64_t table_bytes_ = 0;
  uint64_t sequence_ = 0;  // rows with a higher number are newer than this compaction
  uint64_t newest_ = 0;    // so are tables with a higher number
  Status refusal_;         // of the last step; ok: it was done, or another compaction has a table of it
  int refused_passes_ = 0;
};

}  // namespace cairn
