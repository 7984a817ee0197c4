// SPDX-License-Identifier: BSD-3-Clause
//
// Log entries: what the commands of a batch have done, in the words of a command each, for those who follow this
// server (docs/format.md, section 7, since format 1). They stand in the batch's log data, so the write-ahead log is
// the replication log.
//
//   kind:u8     what follows
//   1 command   db:varint size:varint, then size bytes: the command as RESP, an array of bulk strings
//   2 begin     nothing; the commands up to `end` happen as one
//   3 end       nothing
//   4 stream    size:varint, then size bytes: a piece of the stream of this server's own primary, as it came
//
// Example: PING in database 0 = 01 00 0e 2a310d0a 24340d0a 50494e47 0d0a
//
// What is told is the effect and not the wish: SPOP is the SREM of what it took, EXPIRE the PEXPIREAT of the moment
// it meant, an expired key a DEL. A command that has changed nothing is not there.
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
  uint32_t db = 0;           // of a command
  std::string_view command;  // RESP, or the piece of a stream; views the bytes that are read
};

void AppendLogCommand(std::string& out, int db, std::span<const std::string_view> argv);
void AppendLogStream(std::string& out, std::string_view bytes);
// kBegin or kEnd.
void AppendLogMark(std::string& out, LogEntryKind kind);

// Takes log data apart.
class LogEntryReader {
 public:
  explicit LogEntryReader(std::string_view bytes) : rest_(bytes) {}

  // False at the end; kCorruption for bytes that are no entries.
  Result<bool> Next(LogEntry& entry);

 private:
  std::string_view rest_;
};

}  // namespace cairn
