// SPDX-License-Identifier: BSD-3-Clause
//
// EmbeddedDatabase: Cairn's storage inside a program, without a server.
//
//   cairn::EmbeddedOptions options;
//   options.directory = "/var/lib/sessions";
//   std::unique_ptr<cairn::EmbeddedDatabase> database;
//   cairn::EmbeddedError error = cairn::EmbeddedDatabase::Open(options, database);
//   if (!error) error = database->Put("session:7", "alice", std::chrono::minutes(30));
//   std::string value;
//   if (!error) error = database->Get("session:7", value);
//   if (error.code == cairn::EmbeddedError::Code::kNotFound) ...
//
// The directory is one that cairn-server reads too, but only one process may have it open. The keys are those of
// database 0, the values are strings, in the format of docs/format.md: a server shows them as SET wrote them.
//
// This header is installed and includes nothing else of Cairn.
//
// Thread: any, several at once, except for Close and the destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace cairn {

// The result of an operation; true if it failed.
struct [[nodiscard]] EmbeddedError {
  enum class Code : unsigned char {
    kNone,
    kNotFound,    // Get, Delete: no such key, or it has expired
    kWrongType,   // a server has stored a list, a hash, ... under this key
    kInvalid,     // an argument is out of its range, or the database is closed
    kCorruption,  // bytes on disk do not decode
    kIo,          // the disk or the file system failed, or another process has the directory open
  };
  Code code = Code::kNone;
  std::string text = {};  // for the operator

  explicit operator bool() const { return code != Code::kNone; }
};

// When a write survives a power loss; a crash of the process alone loses nothing.
enum class Durability : unsigned char {
  kEverySecond,  // within a second
  kAlways,       // when Put or Delete returns. A failed fsync then ends the process
  kKernel,       // when the kernel writes it
};

struct EmbeddedOptions {
  std::string directory;                 // created if it is missing
  uint64_t memory_bytes = 256ull << 20;  // for caches, buffers and indexes; at least 16 MB
  uint64_t max_open_tables = 0;          // 0: no limit
  Durability durability = Durability::kEverySecond;
};

class EmbeddedDatabase {
 public:
  static constexpr std::chrono::milliseconds kForever{0};

  // Sets `database` unless there is an error.
  static EmbeddedError Open(const EmbeddedOptions& options, std::unique_ptr<EmbeddedDatabase>& database);
  // Closes the database.
  ~EmbeddedDatabase();
  EmbeddedDatabase(const EmbeddedDatabase&) = delete;
  EmbeddedDatabase& operator=(const EmbeddedDatabase&) = delete;

  // Stores a value in place of any old one. The key expires `ttl` from now; kForever: never. kInvalid for a negative
  // `ttl` and for a key or value of 2 GB or more.
  EmbeddedError Put(std::string_view key, std::string_view value, std::chrono::milliseconds ttl = kForever);
  EmbeddedError Get(std::string_view key, std::string& value);
  EmbeddedError Delete(std::string_view key);

  // Calls visit(key, value) for every string as it is now, in no useful order, until it returns false. The visitor may
  // use this database; what it writes is not visited. Disk space is not freed meanwhile.
  using Visitor = std::function<bool(std::string_view key, std::string_view value)>;
  EmbeddedError ForEach(const Visitor& visit);

  // The number of keys, including expired ones that are not deleted yet.
  uint64_t Count();
  // Makes all writes so far survive a power loss.
  EmbeddedError Sync();
  // Flushes the memtables, so that the next Open has no log to replay, and closes. Every later call returns kInvalid.
  // REQUIRES: no other thread is in a call of this object.
  EmbeddedError Close();

 private:
  class State;
  explicit EmbeddedDatabase(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace cairn
