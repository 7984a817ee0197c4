// SPDX-License-Identifier: BSD-3-Clause
#include "base/crash_report.h"

#include <absl/debugging/symbolize.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>
#include <filesystem>

#include "base/version.h"

// The linker's names for the range of addresses at which the program's file is mapped.
extern "C" const char __executable_start;
extern "C" const char _end;

namespace cairn {
namespace {

constexpr int kMostFrames = 64;
// A report takes some milliseconds. One that hangs, because the crash has left a lock behind, ends with the process.
constexpr unsigned kMostSeconds = 5;

struct CrashLog {
  std::array<char, PATH_MAX> path{};  // absolute; empty: the standard output
  std::atomic_flag is_in_use;
};
// A function that handles a signal finds only what is global.
CrashLog crash_log;

// Writes a line. Neither it nor its callers allocate memory or take a lock: the crash may have happened in malloc.
template <typename... Args>
void WriteLine(int fd, fmt::format_string<Args...> format, Args&&... args) {
  std::array<char, 1024> line;
  const auto end = fmt::format_to_n(line.data(), line.size() - 1, format, std::forward<Args>(args)...);
  *end.out = '\n';
  (void)!write(fd, line.data(), static_cast<size_t>(end.out + 1 - line.data()));
}

void WriteStack(int fd) {
  std::array<void*, kMostFrames> stack;
  const int frames = backtrace(stack.data(), kMostFrames);
  for (int i = 0; i < frames; ++i) {
    const char* const address = static_cast<const char*>(stack[i]);
    const bool is_own = address >= &__executable_start && address < &_end;
    std::array<char, 512> name;
    // A return address may be the first one of the next function.
    const bool is_known = absl::Symbolize(address - 1, name.data(), static_cast<int>(name.size()));
    WriteLine(fd, "#{} {} (+{:#x}) {}", i, fmt::ptr(address), is_own ? address - &__executable_start : 0,
              is_known ? name.data() : "?");
  }
}

void Report(int signal, siginfo_t* info, void*) {
  while (crash_log.is_in_use.test_and_set()) pause();  // another thread crashed first; its report ends the process
  alarm(kMostSeconds);
  int fd = -1;
  if (crash_log.path[0] != '\0') fd = open(crash_log.path.data(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
  if (fd < 0) fd = STDOUT_FILENO;
  std::array<char, 16> thread{};
  pthread_getname_np(pthread_self(), thread.data(), thread.size());
  WriteLine(fd, "=== CAIRN BUG REPORT START: Cut & paste starting from here ===");
  WriteLine(fd, "Cairn {} crashed by signal: {}, si_code: {}", kCairnVersion, signal, info->si_code);
  const bool is_sent = info->si_code <= 0;  // by kill(2) or a call like it
  if (is_sent) WriteLine(fd, "Killed by PID: {}, UID: {}", info->si_pid, info->si_uid);
  if (!is_sent) WriteLine(fd, "Accessing address: {}", fmt::ptr(info->si_addr));
  WriteLine(fd, "------ STACK TRACE of thread {} ------", thread.data());
  WriteStack(fd);
  WriteLine(fd, "=== CAIRN BUG REPORT END ===");
  raise(signal);  // its default action, after this function
}

}  // namespace

void PrepareCrashReports(const char* program, const std::string& log_file) {
  absl::InitializeSymbolizer(program);
  void* frame = nullptr;
  backtrace(&frame, 1);  // the first call loads a library and allocates memory
  if (log_file.empty()) return;
  const std::string path = std::filesystem::absolute(log_file);
  if (path.size() < crash_log.path.size()) std::memcpy(crash_log.path.data(), path.c_str(), path.size() + 1);
}

void SetCrashReports(bool enabled) {
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND);
  action.sa_sigaction = Report;
  if (!enabled) action.sa_handler = SIG_DFL;
  for (const int signal : kCrashSignals) sigaction(signal, &action, nullptr);
}

}  // namespace cairn
