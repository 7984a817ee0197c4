// SPDX-License-Identifier: BSD-3-Clause
#include "doctor/machine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/number.h"

namespace cairn {
namespace {

constexpr uint64_t kKilobyte = 1024;

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// The number after a name in a file of /proc, as in "VmSwap:  12 kB".
std::optional<uint64_t> NumberAfter(const std::string& text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == text.npos) return std::nullopt;
  std::istringstream rest(text.substr(at + name.size()));
  uint64_t number = 0;
  return rest >> number ? std::optional(number) : std::nullopt;
}

std::optional<uint64_t> Kilobytes(std::optional<uint64_t> number) {
  return number ? std::optional(*number * kKilobyte) : std::nullopt;
}

std::optional<uint64_t> CountOpenFiles(pid_t pid) {
  std::error_code error;
  uint64_t count = 0;
  for (std::filesystem::directory_iterator file(fmt::format("/proc/{}/fd", pid), error), end; !error && file != end;
       file.increment(error)) {
    ++count;
  }
  return error ? std::nullopt : std::optional(count);
}

// The median time of some writes and syncs; none if the directory does not allow a file.
std::optional<int64_t> MeasureSync(const std::string& dir) {
  constexpr int kSyncs = 15;
  const int fd = open(dir.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return std::nullopt;
  const std::array<char, 4096> page{};
  std::vector<int64_t> times_us;
  for (int i = 0; i < kSyncs; ++i) {
    const int64_t began_us = MonotonicUs();
    if (write(fd, page.data(), page.size()) != static_cast<ssize_t>(page.size()) || fdatasync(fd) != 0) break;
    times_us.push_back(MonotonicUs() - began_us);
  }
  close(fd);
  if (times_us.size() < kSyncs) return std::nullopt;
  std::nth_element(times_us.begin(), times_us.begin() + kSyncs / 2, times_us.end());
  return times_us[kSyncs / 2];
}

// The chosen word of "always [madvise] never".
std::string ChosenWord(const std::string& text) {
  const size_t begin = text.find('[');
  const size_t end = text.find(']');
  return begin == text.npos || end == text.npos ? std::string() : text.substr(begin + 1, end - begin - 1);
}

std::optional<int64_t> ReadOvercommit() {
  std::ifstream file("/proc/sys/vm/overcommit_memory");
  int64_t mode = 0;
  return file >> mode ? std::optional(mode) : std::nullopt;
}

// The seconds since the start of a process (proc(5), /proc/pid/stat, field 22); none if there is no such process.
std::optional<int64_t> AgeOf(pid_t pid) {
  constexpr int kFieldsBetween = 19;  // between the name, which ends at the last parenthesis, and the start time
  const std::string text = ReadText(fmt::format("/proc/{}/stat", pid));
  const size_t name_end = text.rfind(')');
  if (name_end == text.npos) return std::nullopt;
  std::istringstream rest(text.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < kFieldsBetween; ++i) rest >> skipped;
  int64_t start_ticks = 0;
  timespec now{};
  if (!(rest >> start_ticks) || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return std::nullopt;
  return now.tv_sec - start_ticks / sysconf(_SC_CLK_TCK);
}

}  // namespace

bool IsProcess(pid_t pid, std::string_view name, int64_t uptime_s) {
  const std::string text = ReadText(fmt::format("/proc/{}/comm", pid));
  if (text.empty() || std::string_view(text).substr(0, text.size() - 1) != name) return false;
  const int64_t tolerance_s = 10 + uptime_s / 100;
  const std::optional<int64_t> age_s = AgeOf(pid);
  return age_s && std::abs(*age_s - uptime_s) <= tolerance_s;
}

MachineFacts ReadMachine(pid_t pid, const std::string& dir) {
  MachineFacts facts;
  facts.open_files = CountOpenFiles(pid);
  facts.most_open_files = NumberAfter(ReadText(fmt::format("/proc/{}/limits", pid)), "Max open files");
  facts.memory_bytes = Kilobytes(NumberAfter(ReadText("/proc/meminfo"), "MemTotal:"));
  facts.memory_limit_bytes = ReadCgroupMemoryLimit(pid);
  const std::string status = ReadText(fmt::format("/proc/{}/status", pid));
  facts.swapped_bytes = Kilobytes(NumberAfter(status, "VmSwap:"));
  facts.sync_us = MeasureSync(dir);
  const bool allows_huge_pages = NumberAfter(status, "THP_enabled:").value_or(1) != 0;
  if (allows_huge_pages) facts.huge_pages = ChosenWord(ReadText("/sys/kernel/mm/transparent_hugepage/enabled"));
  facts.overcommit = ReadOvercommit();
  return facts;
}

}  // namespace cairn
