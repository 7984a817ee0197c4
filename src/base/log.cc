// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace cairn {
namespace {

spdlog::level::level_enum ToSpdlog(LogSeverity severity) {
  switch (severity) {
    case LogSeverity::kDebug: return spdlog::level::debug;
    case LogSeverity::kVerbose: return spdlog::level::info;
    case LogSeverity::kNotice: return spdlog::level::warn;
    case LogSeverity::kWarning: return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

bool OpenLog(const std::string& file, std::string& error) {
  try {
    auto logger = file.empty() ? spdlog::stdout_logger_mt("cairn") : spdlog::basic_logger_mt("cairn", file);
    logger->set_pattern("%P:%t %d %b %Y %H:%M:%S.%e * %v");
    logger->flush_on(spdlog::level::info);
    spdlog::set_default_logger(logger);
    SetLogSeverity(LogSeverity::kNotice);
    return true;
  } catch (const spdlog::spdlog_ex& failure) {
    error = failure.what();
    return false;
  }
}

void SetLogSeverity(LogSeverity least) { spdlog::set_level(ToSpdlog(least)); }

void LogFormatted(LogSeverity severity, fmt::string_view format, fmt::format_args args) {
  spdlog::log(ToSpdlog(severity), fmt::vformat(format, args));
}

}  // namespace cairn
