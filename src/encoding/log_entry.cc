// SPDX-License-Identifier: BSD-3-Clause
#include "encoding/log_entry.h"

#include "base/number.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

size_t CountDigits(size_t number) {
  size_t digits = 1;
  for (; number >= 10; number /= 10) ++digits;
  return digits;
}

// Appends "*3" or "$3" with its line end.
void AppendHead(std::string& out, char sign, size_t number) {
  out.push_back(sign);
  AppendUint64(out, number);
  out.append(kLineEnd);
}

size_t HeadSize(size_t number) { return 1 + CountDigits(number) + kLineEnd.size(); }

}  // namespace

void AppendLogCommand(std::string& out, int db, std::span<const std::string_view> argv) {
  size_t size = HeadSize(argv.size());
  for (const std::string_view arg : argv) size += HeadSize(arg.size()) + arg.size() + kLineEnd.size();
  out.push_back(static_cast<char>(LogEntryKind::kCommand));
  AppendVarint(out, static_cast<uint64_t>(db));
  AppendVarint(out, size);
  AppendHead(out, '*', argv.size());
  for (const std::string_view arg : argv) {
    AppendHead(out, '$', arg.size());
    out.append(arg).append(kLineEnd);
  }
}

void AppendLogStream(std::string& out, std::string_view bytes) {
  out.push_back(static_cast<char>(LogEntryKind::kStream));
  AppendVarint(out, bytes.size());
  out.append(bytes);
}

void AppendLogMark(std::string& out, LogEntryKind kind) { out.push_back(static_cast<char>(kind)); }

Result<bool> LogEntryReader::Next(LogEntry& entry) {
  if (rest_.empty()) return false;
  const auto kind = static_cast<uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  if (kind < static_cast<uint8_t>(LogEntryKind::kCommand) || kind > static_cast<uint8_t>(LogEntryKind::kStream)) {
    return Status::Corruption("log entry: unknown kind");
  }
  entry = LogEntry{.kind = static_cast<LogEntryKind>(kind)};
  if (entry.kind == LogEntryKind::kBegin || entry.kind == LogEntryKind::kEnd) return true;
  uint64_t db = 0;
  uint64_t size;
  if (entry.kind == LogEntryKind::kCommand && (!ReadVarint(rest_, db) || db > UINT32_MAX)) {
    return Status::Corruption("log entry: db is cut short");
  }
  if (!ReadVarint(rest_, size)) return Status::Corruption("log entry: size is cut short");
  if (size > rest_.size()) return Status::Corruption("log entry: command is longer than the log data");
  entry.db = static_cast<uint32_t>(db);
  entry.command = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

}  // namespace cairn
