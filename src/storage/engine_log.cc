// SPDX-License-Identifier: BSD-3-Clause
#include "storage/engine_log.h"

#include <cstdarg>
#include <cstdio>
#include <string>

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
    const bool matters = level >= rocksdb::InfoLogLevel::WARN_LEVEL && level < rocksdb::InfoLogLevel::HEADER_LEVEL;
    Log(matters ? LogSeverity::kWarning : LogSeverity::kDebug, "rocksdb: {}", text);
  }
};

}  // namespace

std::shared_ptr<rocksdb::Logger> MakeEngineLog() { return std::make_shared<EngineLog>(); }

}  // namespace cairn
