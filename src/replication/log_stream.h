// SPDX-License-Identifier: BSD-3-Clause
//
// LogStream: the replication stream, as Redis's replicas read it, out of the log.
//
// The log has what commands did, batch by batch (encoding/log_entry.h). From it follow the stream's
// bytes and nothing else does: SELECT where the database changes, MULTI and EXEC around what is to
// happen as one; what came from a primary of this server is passed on byte for byte. So whoever
// starts at the same anchor reads the same bytes, also after a restart, and an offset means the same
// to everybody.
//
// Thread: its owner's.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "replication/history.h"
#include "storage/log_reader.h"

namespace cairn {

class LogStream {
 public:
  LogStream(Store& store, const Anchor& from) : reader_(store, from.sequence), offset_(from.offset), db_(from.db) {}

  // Appends the bytes of the next batch. kCaughtUp and kGone as LogReader says.
  Result<LogReader::Outcome> Next(std::string& out, LogReader::Patience patience = LogReader::Patience::kNone);

  // Where it stands: all bytes up to here have been appended.
  Anchor position() const { return {offset_, reader_.sequence(), db_}; }
  uint64_t offset() const { return offset_; }
  // Where the batch that was read last began.
  uint64_t batch_sequence() const { return batch_.sequence; }

 private:
  void Select(int db, std::string& out);

  LogReader reader_;
  LogReader::Batch batch_;
  uint64_t offset_;
  int db_;
};

// Appends a command as the stream has them.
void AppendStreamCommand(std::string& out, std::initializer_list<std::string_view> argv);

}  // namespace cairn
