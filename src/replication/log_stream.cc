// SPDX-License-Identifier: BSD-3-Clause
#include "replication/log_stream.h"

#include "encoding/log_entry.h"

namespace cairn {

void AppendStreamCommand(std::string& out, std::initializer_list<std::string_view> argv) {
  out.append("*").append(std::to_string(argv.size())).append("\r\n");
  for (const std::string_view arg : argv) {
    out.append("$").append(std::to_string(arg.size())).append("\r\n").append(arg).append("\r\n");
  }
}

void LogStream::Select(int db, std::string& out) {
  if (db == db_) return;
  AppendStreamCommand(out, {"SELECT", std::to_string(db)});
  db_ = db;
}

Result<LogReader::Outcome> LogStream::Next(std::string& out, LogReader::Patience patience) {
  const LogReader::Outcome outcome = TRY(reader_.Next(batch_, patience));
  if (outcome != LogReader::Outcome::kBatch) return outcome;
  const size_t before = out.size();
  LogEntryReader entries(*batch_.entries);
  LogEntry entry;
  while (TRY(entries.Next(entry))) {
    switch (entry.kind) {
      case LogEntryKind::kBegin: AppendStreamCommand(out, {"MULTI"}); break;
      case LogEntryKind::kEnd: AppendStreamCommand(out, {"EXEC"}); break;
      case LogEntryKind::kCommand:
        Select(static_cast<int>(entry.db), out);
        out.append(entry.command);
        break;
      case LogEntryKind::kStream:
        out.append(entry.command);
        db_ = kNoDb;  // the bytes may have selected any database
        break;
    }
  }
  offset_ += out.size() - before;
  return outcome;
}

}  // namespace cairn
