// SPDX-License-Identifier: BSD-3-Clause
//
// Log entries: the replicated commands of a batch (docs/format.md, section 7, since format 1). They are the batch's
// log data, so the write-ahead log is the replication log.
//
//   kind:u8     what follows
//   1 command   db:varint size:varint, then size bytes: the command as RESP, an array of bulk strings
//   2 begin     nothing; the commands up to `end` are one unit
//   3 end       nothing
//   4 stream    size:varint, then size bytes: an unchanged piece of the stream of this server's own primary
//
// Example: PING in database 0 = 01 00 0e 2a310d0a 24340d0a 50494e47 0d0a
//
// A command is logged by its effect: SPOP as the SREM of the members it removed, EXPIRE as a PEXPIREAT with the
// resulting time, an expired key as a DEL. A command that has changed nothing is not logged.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn {

enum class LogEntryKind : uint8_t { kCommand = 1, kBegin = 2, kEnd = 3, kStream = 4 };

struct LogEntry {
  LogEntryKind kind = LogEntryKind::kCommand;
  uint32_t db = 0;           // of a kCommand
  std::string_view command;  // RESP, or a piece of a stream; views the bytes being read
};

void AppendLogCommand(std::string& out, int db, std::span<const std::string_view> argv);
void AppendLogStream(std::string& out, std::string_view bytes);
// kBegin or kEnd.
void AppendLogMark(std::string& out, LogEntryKind kind);

// Parses log data.
class LogEntryReader {
 public:
  explicit LogEntryReader(std::string_view bytes) : rest_(bytes) {}

  // False at the end; kCorruption if the bytes are not entries.
  Result<bool> Next(LogEntry& entry);

 private:
  std::string_view rest_;
};

}  // namespace cairn
