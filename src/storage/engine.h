// SPDX-License-Identifier: BSD-3-Clause
//
// Engine: a RocksDB database with a column family per space, its tuning and its counters. It stores bytes and knows of
// a row only its space and its storage mode.
//
// A store has one on disk and, while a database is in memory, one without files and without a log
// (storage/row_engines.h). On disk the rows of databases with `storage-mode hdd` have column families of their own for
// the spaces keys, elements and scores; their keys sort behind all others of the space.
//
// Thread: any, except where a function says otherwise.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "encoding/row_key.h"
#include "encoding/storage_mode.h"
#include "storage/blob_files.h"
#include "storage/store_options.h"
#include "storage/write_stalls.h"

namespace rocksdb {
class DB;
class Env;
class Iterator;
class ColumnFamilyHandle;
class CompactionFilterFactory;
class EventListener;
class Status;
struct ColumnFamilyOptions;
struct DBOptions;
struct ReadOptions;
}  // namespace rocksdb

namespace cairn {

class CompactionPace;
class DiskReserve;
class LogFiles;
class ManifestFailure;
class OpenTables;
struct SharedParts;

class Engine {
 public:
  using FilterOf = std::function<std::shared_ptr<rocksdb::CompactionFilterFactory>(Space)>;

  explicit Engine(const StoreOptions& options);
  // One in memory. It shares the block cache, and the budget of memtables, with one on disk.
  explicit Engine(const Engine& disk);
  ~Engine();

  // ---- called once each
  // kIo with a message for the operator. No compaction starts before StartCompactions.
  Status Open(const FilterOf& filter_of, std::vector<std::shared_ptr<rocksdb::EventListener>> listeners);
  Status StartCompactions();
  // Makes the column families for `storage-mode hdd`, if there are none.
  Status AddHddFamilies();
  // Ends background work. No other function may be called afterwards.
  void Close();

  // The options after FitToDisk.
  const StoreOptions& options() const { return options_; }
  bool is_open() const { return db_ != nullptr; }
  rocksdb::DB& db() const { return *db_; }
  LogFiles& log_files() const { return *log_files_; }
  // All column families.
  std::vector<rocksdb::ColumnFamilyHandle*> families() const;
  // The column family of a space, for rows with this mode.
  rocksdb::ColumnFamilyHandle* family(Space space, StorageMode mode = StorageMode::kSsd) const {
    if (mode == StorageMode::kHdd) [[unlikely]] {
      if (rocksdb::ColumnFamilyHandle* hdd = families_[kSpaceCount + static_cast<int>(space)]) return hdd;
    }
    return families_[static_cast<int>(space)];
  }
  // All rows of a space, of both modes. Waits for the disk.
  std::unique_ptr<rocksdb::Iterator> NewIterator(const rocksdb::ReadOptions& options, Space space) const;
  DiskReserve& disk_reserve() const { return *disk_reserve_; }

  // ---- settable while running
  CompactionPace& compaction_pace() { return *compaction_pace_; }
  void SetMemory(const Budget& budget);
  BlobFiles& blob_files() { return blob_files_; }

  // Adapts the open tables, the compaction pace and the collection of blob files to the present state. Called ten times
  // a second; mostly cheap, but it may wait for the disk.
  void Watch();

  // Flushes the memtables, so that the next start has no log to replay. May take long, unless it only requests that.
  Status Flush(bool waits = true);

  // ---- open tables (storage/open_tables.h)
  uint64_t open_tables() const;
  Status SetMostOpenTables(uint64_t most);
  // Called before `coming` tables are added. Waits if the number of open tables is near the limit; cheap otherwise.
  void WatchOpenTables(uint64_t coming);

  // Reads a row so that its blocks are in memory. Waits for the disk.
  void Fetch(std::string_view tagged_row);
  // Starts reading the row's block from the disk, if it is not in memory, and does not wait for it.
  void ReadAhead(std::string_view tagged_row);

  // ---- what INFO shows
  uint64_t Ticker(uint32_t rocksdb_ticker) const;
  // An integer property summed over the column families (rocksdb/db.h, DB::Properties).
  uint64_t Property(const std::string& name) const;
  std::string TextProperty(const std::string& name, Space space) const;
  // A property that is a map; empty if RocksDB does not have it.
  std::map<std::string, std::string> MapProperty(const std::string& name, Space space) const;
  WriteStalls& write_stalls() { return write_stalls_; }
  uint64_t MemtableBytes() const;
  uint64_t MostMemtableBytes() const;  // their share of the budget
  uint64_t BlockCacheBytes() const;

 private:
  static constexpr int kFamilyCount = 2 * kSpaceCount;

  rocksdb::DBOptions DatabaseOptions(std::vector<std::shared_ptr<rocksdb::EventListener>> listeners);
  rocksdb::ColumnFamilyOptions FamilyOptions(Space space, StorageMode mode) const;
  void PaceCompactions();

  const StoreOptions options_;
  const std::unique_ptr<DiskReserve> disk_reserve_;
  const std::shared_ptr<OpenTables> open_tables_;
  BlobFiles blob_files_;
  WriteStalls write_stalls_;
  std::shared_ptr<LogFiles> log_files_;
  const std::shared_ptr<ManifestFailure> manifest_failure_;
  std::unique_ptr<SharedParts> parts_;
  std::unique_ptr<CompactionPace> compaction_pace_;
  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  FilterOf filter_of_;
  // By space, those of `storage-mode hdd` after the others; null: none.
  std::array<std::atomic<rocksdb::ColumnFamilyHandle*>, kFamilyCount> families_{};
};

// Converts a status: Incomplete becomes kWouldWait, Corruption stays, everything else becomes kIo.
Status FromRocksDb(const rocksdb::Status& status);

}  // namespace cairn
