// SPDX-License-Identifier: BSD-3-Clause
//
// Row files: the rows of a snapshot as RocksDB table files, which another store ingests unchanged (docs/format.md,
// section 9).
//
// Keyspaces and collections get new numbers, which the other store has never used, so the two stores have no row key
// in common. Rows of dead keyspaces and collections are left out. The shift is the same for all collections, and
// keyspaces keep their order, so rows are written in the order in which they are read: nothing must be sorted.
//
// Thread: the caller's, which must be one that may wait.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "encoding/row_key.h"

namespace rocksdb {
class Iterator;
class SstFileWriter;
}  // namespace rocksdb

namespace cairn {

class Store;
class StoreSnapshot;

// The first free numbers.
struct RowNumbers {
  KeyspaceId keyspace = 1;
  CollectionId collection = 1;
};

struct RowFile {
  Space space = Space::kKeys;
  std::string path;
  uint64_t size = 0;      // bytes
  uint64_t checksum = 0;  // Hash64 of the bytes
};

// The databases that the rows of the files belong to.
struct RowFilesContent {
  struct Db {
    KeyspaceId keyspace = 0;
    int64_t keys = 0;
  };
  std::vector<Db> databases;
  CollectionId collections_end = 1;  // higher than all collection ids in the files
};

class RowFilesWriter {
 public:
  // Called with each finished file; an error ends the work.
  using OnFile = std::function<Status(RowFile file)>;
  // Called after about every 64 KB written, and may block; an error ends the work.
  using OnBytes = std::function<Status(size_t bytes)>;
  // Called before each key; may be empty.
  using BeforeKey = std::function<Status()>;

  // `folder` must exist and be empty.
  RowFilesWriter(Store& store, const StoreSnapshot& snapshot, RowNumbers first, std::string folder, OnFile on_file,
                 OnBytes on_bytes = nullptr, BeforeKey before_key = nullptr);
  ~RowFilesWriter();

  // Writes all rows. kIo: the disk failed; kCorruption: a record does not decode. The caller then deletes the files.
  Result<RowFilesContent> Write();

 private:
  std::unique_ptr<rocksdb::Iterator> Walk(Space space) const;
  void NumberKeyspaces();
  // The new number of a keyspace; 0: it is dead.
  KeyspaceId Renumber(KeyspaceId keyspace) const;
  Status WriteOwners();
  Status WriteKeys();
  Status WriteKey(std::string_view row, std::string_view record, KeyspaceId keyspace);
  Status WriteCollections(Space space);
  Status WriteExpiries();
  Status Put(Space space, std::string_view row, std::string_view value);
  Status EndFile();

  Store& store_;
  const StoreSnapshot& snapshot_;
  const RowNumbers first_;
  const std::string folder_;
  const OnFile on_file_;
  const OnBytes on_bytes_;
  const BeforeKey before_key_;
  RowFilesContent content_;
  std::vector<KeyspaceId> keyspaces_;  // alive, ascending; the index determines the new number
  CollectionId shift_ = 0;             // added to collection ids, modulo 2^64
  CollectionId first_alive_ = 0;       // 0: no collection is alive
  CollectionId last_alive_ = 0;
  std::unique_ptr<rocksdb::SstFileWriter> writer_;  // writes the current file; null: none
  uint64_t told_bytes_ = 0;                         // of the current file, reported to on_bytes_
  RowFile file_;
  uint64_t file_count_ = 0;
  std::string row_;
  std::string value_;
};

// Moves the files into the store, all of them or, also after kill -9, none. Their rows are invisible until their
// keyspaces are adopted. Flushes all memtables first, and waits for the flushes and compactions that run. kIo while
// RocksDB recovers from an error, if a file cannot be taken in, or if other threads keep writing rows among those of
// the files. REQUIRES: Staging::Begin was called with the numbers of their content.
Status TakeInRowFiles(Store& store, std::span<const RowFile> files);

// Hash64 of a file's bytes, or kIo.
Result<uint64_t> ChecksumOfFile(const std::string& path);

}  // namespace cairn
