// SPDX-License-Identifier: BSD-3-Clause
//
// LogStream: reads the replication stream, in the form that Redis's replicas expect, from the log.
//
// The log holds the replicated commands batch by batch (encoding/log_entry.h). The stream's bytes follow from the log
// alone: SELECT where the database changes, MULTI and EXEC around commands that are one transaction; bytes that this
// server received from its own primary are passed on unchanged. So every reader that starts at the same anchor reads
// the same bytes, also after a restart, and an offset means the same to all servers.
//
// Thread: the owner's.
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

  // Appends the bytes of the next batch. See LogReader for kCaughtUp and kGone.
  Result<LogReader::Outcome> Next(std::string& out, LogReader::Patience patience = LogReader::Patience::kNone);

  // The place up to which all bytes have been appended.
  Anchor position() const { return {offset_, reader_.sequence(), db_}; }
  uint64_t offset() const { return offset_; }
  // The sequence at which the last batch began.
  uint64_t batch_sequence() const { return batch_.sequence; }

 private:
  void Select(int db, std::string& out);

  LogReader reader_;
  LogReader::Batch batch_;
  uint64_t offset_;
  int db_;
};

// Appends a command in the stream's encoding.
void AppendStreamCommand(std::string& out, std::initializer_list<std::string_view> argv);

}  // namespace cairn
