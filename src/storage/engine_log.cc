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
    WarnOfDamage(format, text);
    const bool matters = level >= rocksdb::InfoLogLevel::WARN_LEVEL && level < rocksdb::InfoLogLevel::HEADER_LEVEL;
    Log(matters ? LogSeverity::kWarning : LogSeverity::kDebug, "rocksdb: {}", text);
  }

 private:
  // RocksDB replays a log up to a piece that it cannot read. It names the file in this message only. A torn record at
  // the end is what a kill leaves.
  void WarnOfDamage(const char* format, std::string_view text) {
    if (std::strstr(format, "dropping %d bytes") == nullptr || text.find("truncated") != text.npos) return;
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

std::shared_ptr<rocksdb::Logger> MakeEngineLog() { return std::make_shared<EngineLog>(); }

}  // namespace cairn
