// SPDX-License-Identifier: BSD-3-Clause
#include "base/processor_time.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <charconv>

namespace cairn {
namespace {

constexpr std::string_view kAllProcessors = "cpu ";
// user nice system idle iowait irq softirq steal; what guests take is in user and nice already.
constexpr int kFields = 8;
constexpr int kIdleField = 3;
constexpr int kWaitingField = 4;

ProcessorTicks ReadProcessorTicks() {
  const int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  char line[256];
  const ssize_t size = read(fd, line, sizeof line);
  close(fd);
  return ParseProcessorTicks({line, static_cast<size_t>(size > 0 ? size : 0)});
}

}  // namespace

ProcessorTicks ParseProcessorTicks(std::string_view line) {
  if (!line.starts_with(kAllProcessors)) return {};
  ProcessorTicks ticks;
  const char* at = line.data() + kAllProcessors.size();
  const char* const end = line.data() + line.size();
  for (int field = 0; field < kFields; ++field) {
    while (at < end && *at == ' ') ++at;
    uint64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return {};
    at = next;
    ticks.all += number;
    if (field == kIdleField || field == kWaitingField) ticks.idle += number;
  }
  return ticks;
}

IdleTime::IdleTime() : last_(ReadProcessorTicks()) {}

// The kernel counts the time of waiting for a disk anew now and then, so the idle time may fall.
double IdleTime::Share() {
  const ProcessorTicks now = ReadProcessorTicks();
  const ProcessorTicks before = last_;
  last_ = now;
  if (now.all <= before.all) return 1;
  if (now.idle <= before.idle) return 0;
  return static_cast<double>(now.idle - before.idle) / static_cast<double>(now.all - before.all);
}

int64_t ThreadCpuUs() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<int64_t>(used.tv_sec) * 1000000 + used.tv_nsec / 1000;
}

}  // namespace cairn
