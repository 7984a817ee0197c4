// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/mutex.h"

namespace cairn {
namespace {

// Appends lines to the log file. If logrotate or an operator renames or deletes it, the next line makes a new file.
class LogFile : public spdlog::sinks::sink {
 public:
  explicit LogFile(const std::string& path) : path_(std::filesystem::absolute(path)), file_(Open()) {
    if (file_ == nullptr) spdlog::throw_spdlog_ex(path + ": " + std::strerror(errno));
  }

  void log(const spdlog::details::log_msg& message) override {
    const MutexLock lock(mutex_);
    if (!IsAtPath()) {
      if (File made = Open(); made != nullptr) file_ = std::move(made);
    }
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    static_cast<void>(std::fwrite(line.data(), 1, line.size(), file_.get()));
  }
  void flush() override {
    const MutexLock lock(mutex_);
    static_cast<void>(std::fflush(file_.get()));
  }
  void set_pattern(const std::string& pattern) override {
    set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern));
  }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    const MutexLock lock(mutex_);
    formatter_ = std::move(formatter);
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  File Open() const { return File(std::fopen(path_.c_str(), "ae")); }
  bool IsAtPath() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    struct stat open;
    struct stat there;
    if (fstat(fileno(file_.get()), &open) != 0 || stat(path_.c_str(), &there) != 0) return false;
    return open.st_ino == there.st_ino && open.st_dev == there.st_dev;
  }

  const std::string path_;  // absolute, whatever the working directory becomes
  Mutex mutex_;
  File file_ ABSL_GUARDED_BY(mutex_);  // never null
  std::unique_ptr<spdlog::formatter> formatter_ ABSL_GUARDED_BY(mutex_) = std::make_unique<spdlog::pattern_formatter>();
};

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
    spdlog::sink_ptr sink;
    if (file.empty()) {
      sink = std::make_shared<spdlog::sinks::stdout_sink_mt>();
    } else {
      sink = std::make_shared<LogFile>(file);
    }
    auto logger = std::make_shared<spdlog::logger>("cairn", std::move(sink));
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

bool IsLogged(LogSeverity severity) { return spdlog::should_log(ToSpdlog(severity)); }

void LogFormatted(LogSeverity severity, fmt::string_view format, fmt::format_args args) {
  spdlog::log(ToSpdlog(severity), fmt::vformat(format, args));
}

}  // namespace cairn
