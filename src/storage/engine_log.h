// SPDX-License-Identifier: BSD-3-Clause
//
// Writes RocksDB's messages to the server's own log: warnings and errors with their level, the rest as `debug`.
//
// RocksDB gets no log file of its own: that file would be on the disk of the data, and when the disk is full, a
// RocksDB built with assertions (Debian's) aborts the process at the next message.
//
// Thread: any.
#pragma once

#include <rocksdb/env.h>

#include <memory>
#include <string_view>

namespace cairn {

std::shared_ptr<rocksdb::Logger> MakeEngineLog();
// Whether `log`, which is of MakeEngineLog, was told of damage in the middle of a write-ahead log.
bool HasSeenDamage(const rocksdb::Logger& log);

// What a message to RocksDB's logger says about a log that is replayed. It names the file nowhere else.
enum class LogDamage {
  kNone,
  kTornEnd,  // the log ends within a record, as after a kill in mid-write
  kPiece,    // a piece cannot be read
};
LogDamage DamageIn(const char* format, std::string_view text);

}  // namespace cairn
