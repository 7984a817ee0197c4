// SPDX-License-Identifier: BSD-3-Clause
#include "base/cgroup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace cairn {
namespace {

constexpr uint64_t kNoLimit = 1ull << 62;  // version 1 has a number near 2^63 for "no limit"

// In a container the groups around its own are not mounted, and its own may be mounted at `root` itself.
std::optional<uint64_t> LowestLimit(const std::string& root, std::filesystem::path group,
                                    const std::string& file_name) {
  std::optional<uint64_t> lowest;
  for (;; group = group.parent_path()) {
    std::ifstream file(std::filesystem::path(root + group.string()) / file_name);
    uint64_t limit = 0;  // "max" of version 2 does not read as a number
    if (file >> limit && limit < kNoLimit) lowest = std::min(lowest.value_or(limit), limit);
    if (!group.has_relative_path()) return lowest;
  }
}

}  // namespace

// The lines of the file are "number:controllers:path"; version 2 has the line "0::path".
std::optional<uint64_t> ReadCgroupMemoryLimit(pid_t pid) {
  std::ifstream groups(fmt::format("/proc/{}/cgroup", pid));
  std::optional<uint64_t> limit;
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    std::optional<uint64_t> found;
    if (controllers.empty()) {
      found = LowestLimit("/sys/fs/cgroup", group, "memory.max");
    } else if ((',' + controllers + ',').find(",memory,") != std::string::npos) {
      found = LowestLimit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
    }
    if (found) limit = std::min(limit.value_or(*found), *found);
  }
  return limit;
}

}  // namespace cairn
