// SPDX-License-Identifier: BSD-3-Clause
//
// Row files: the rows of a snapshot as table files of RocksDB's, which another store takes in as they are
// (docs/format.md, section 9).
//
// Keyspaces and collections are numbered anew on the way, from numbers on that the other store has never used, so its
// own rows and these have no row key in common. Rows of dead keyspaces and collections are left out. The shift is the
// same for all collections, and keyspaces keep their order, so rows are written in the order in which they are read:
// there is nothing to sort.
//
// Thread: that of their user, one that may wait.
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

// The first numbers that are free, or that are given.
struct RowNumbers {
  KeyspaceId keyspace = 1;
  CollectionId collection = 1;
};

struct RowFile {
  Space space = Space::kKeys;
  std::string path;
  uint64_t size = 0;      // bytes
  uint64_t checksum = 0;  // Hash64 of them
};

// What the rows of the files are part of.
struct RowFilesContent {
  struct Db {
    KeyspaceId keyspace = 0;
    int64_t keys = 0;
  };
  std::vector<Db> databases;
  CollectionId collections_end = 1;  // no collection has this number or one above
};

class RowFilesWriter {
 public:
  // Hears of each file when it is written; an error ends the work with it.
  using OnFile = std::function<Status(RowFile file)>;
  // Hears of what was written, some 64 KB at a time, and may take its time; an error ends the work.
  using OnBytes = std::function<Status(size_t bytes)>;
  // Is called before each key; may be empty.
  using BeforeKey = std::function<Status()>;

  // `folder` exists and is empty.
  RowFilesWriter(Store& store, const StoreSnapshot& snapshot, RowNumbers first, std::string folder, OnFile on_file,
                 OnBytes on_bytes = nullptr, BeforeKey before_key = nullptr);
  ~RowFilesWriter();

  // Writes all rows. kIo: the disk failed; kCorruption: a record does not decode. Files are left to the caller.
  Result<RowFilesContent> Write();

 private:
  std::unique_ptr<rocksdb::Iterator> Walk(Space space) const;
  void NumberKeyspaces();
  // The number a keyspace gets; 0: it is dead.
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
  std::vector<KeyspaceId> keyspaces_;  // alive, ascending; the place of one says which number it gets
  CollectionId shift_ = 0;             // added to the number of a collection, modulo 2^64
  CollectionId first_alive_ = 0;       // 0: there is no collection
  CollectionId last_alive_ = 0;
  std::unique_ptr<rocksdb::SstFileWriter> writer_;  // of the file being written, if there is one
  uint64_t told_bytes_ = 0;                         // of it, to on_bytes_
  RowFile file_;
  uint64_t file_count_ = 0;
  std::string row_;
  std::string value_;
};

// Takes the files into the store, all of them or, also after kill -9, none; they are gone from where they were
// afterwards. Their rows are seen by nobody until their keyspaces are adopted. REQUIRES: Staging::Begin with the
// numbers of their content.
Status TakeInRowFiles(Store& store, std::span<const RowFile> files);

// Hash64 of a file's bytes. kIo.
Result<uint64_t> ChecksumOfFile(const std::string& path);

}  // namespace cairn
