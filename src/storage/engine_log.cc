// SPDX-License-Identifier: BSD-3-Clause
#include "storage/engine_log.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "base/log.h"

namespace cairn {
namespace {

constexpr size_t kMostBytes = 2048;  // longest message; statistics dumps are longer and not needed here

class EngineLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;

  void Logv(const char* format, va_list arguments) override {
    Logv(rocksdb::InfoLogLevel::INFO_LEVEL, format, arguments);
  }

  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    char text[kMostBytes];
    const int size = std::vsnprintf(text, sizeof text, format, arguments);
    if (size <= 0) return;
    const LogDamage damage = DamageIn(format, text);
    if (damage == LogDamage::kPiece) WarnOfDamage(text);
    const bool matters = level >= rocksdb::InfoLogLevel::WARN_LEVEL && level < rocksdb::InfoLogLevel::HEADER_LEVEL;
    const bool warns = matters && damage != LogDamage::kTornEnd;
    Log(warns ? LogSeverity::kWarning : LogSeverity::kDebug, "rocksdb: {}", text);
  }

  bool has_warned() const { return has_warned_; }

 private:
  // RocksDB replays a log up to a piece that it cannot read.
  void WarnOfDamage(std::string_view text) {
    if (has_warned_.exchange(true)) return;
    Log(LogSeverity::kWarning,
        "storage: a log is damaged in the middle, and commits behind the damage were not replayed: {}. After a power "
        "loss these are the commits since the last sync. Otherwise restore a backup, or let cairn-check salvage a copy "
        "of the directory that was made before this start",
        text);
  }

  std::atomic<bool> has_warned_{false};
};

}  // namespace

// Source: db/log_reader.cc and db_impl/db_impl_open.cc of RocksDB 7.8. A record of several blocks has the second text.
// The message about a whole log that is dropped because of damage in an earlier one has no reason.
LogDamage DamageIn(const char* format, std::string_view text) {
  if (std::strstr(format, "dropping %d bytes; %s") == nullptr) return LogDamage::kNone;
  const bool is_torn = text.find("truncated") != text.npos || text.find("error reading trailing data") != text.npos;
  return is_torn ? LogDamage::kTornEnd : LogDamage::kPiece;
}

std::shared_ptr<rocksdb::Logger> MakeEngineLog() { return std::make_shared<EngineLog>(); }

bool HasSeenDamage(const rocksdb::Logger& log) { return static_cast<const EngineLog&>(log).has_warned(); }

}  // namespace cairn
