// SPDX-License-Identifier: BSD-3-Clause
//
// OfflineDatabase: the files of a data directory that no server has open, for reading only. It never writes: it holds
// RocksDB's LOCK by a read lock, which keeps a server away.
//
// It has the rows that a server would have after its start. Opening succeeds in spite of damaged tables and logs too,
// and CheckFiles names these; then the rows are all that can be read, also those of commits behind damage of a log.
// Rows are read through OfflineRows, which steps over damaged blocks.
//
// Thread: that of its user.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "encoding/row_key.h"
#include "encoding/storage_mode.h"

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
class Iterator;
}  // namespace rocksdb

namespace cairn {

// A read lock of a directory's LOCK file.
class DirectoryLock {
 public:
  // kIo if `dir` is not a data directory, or a server has it open.
  static Result<DirectoryLock> Take(const std::string& dir);
  DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}
  int fd_;
};

// A damaged or missing table.
struct DamagedTable {
  uint64_t number = 0;
  bool opens = false;    // only blocks of it are damaged
  std::string sentence;  // names the file, the damage and the range of its rows
};

class OfflineDatabase {
 public:
  // kIo or kCorruption: CURRENT or the manifest cannot be read.
  static Result<std::unique_ptr<OfflineDatabase>> Open(const std::string& dir);
  ~OfflineDatabase();

  const std::string& dir() const { return dir_; }
  // A sentence for each damaged piece of the logs.
  const std::vector<std::string>& log_damage() const { return log_damage_; }
  // Whether the last record of the logs is incomplete, as after kill -9 or a power loss. REQUIRES: no damage.
  bool LogIsTorn() const;
  // Reads all blocks of all tables. `on_table` is called after each.
  std::vector<DamagedTable> CheckTables(const std::function<void(uint64_t bytes)>& on_table) const;
  // A sentence for each blob file that is missing or has another size. Their values are checked when rows are read.
  std::vector<std::string> CheckBlobFiles() const;
  uint64_t table_bytes() const;

  // A row's value; none: there is no such row.
  Result<std::optional<std::string>> Get(Space space, std::string_view row) const;
  std::unique_ptr<rocksdb::Iterator> NewIterator(Space space) const;

 private:
  explicit OfflineDatabase(std::string dir);
  // False: something is damaged.
  bool OpenAsServer();
  rocksdb::ColumnFamilyHandle* Family(Space space, StorageMode mode) const;

  const std::string dir_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  std::vector<std::string> log_damage_;
};

// An error if the newest OPTIONS file is missing or does not parse. The server does not need it.
Status CheckOptionsFile(const std::string& dir);

// Makes a copy of hard links in the new folder `copy` that OfflineDatabase opens: `without` are the numbers of tables
// to leave out. If the manifest is cut or cannot be read, a new one is made from the tables. The original is unchanged.
Status MakeReadableCopy(const std::string& dir, const std::string& copy, const std::vector<uint64_t>& without);

// The rows that OfflineRows::OnGap names, for a message.
std::string DescribeGap(Space space, std::string_view first, std::string_view last);

// A row for a message: the database's keyspace, slot and key of a key row; else the collection's id.
std::string DescribeRow(Space space, std::string_view row);

}  // namespace cairn
