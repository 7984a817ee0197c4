// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/read_faults.h"

#include <filesystem>
#include <string>
#include <utility>

namespace cairn::simulation {

void ReadFaults::Ask(std::shared_ptr<Disk> disk) {
  const MutexLock lock(mutex_);
  asks_ = disk != nullptr;
  disk_.swap(disk);
}

bool ReadFaults::Hits(int fd) {
  if (!asks_) return false;
  std::error_code error;
  const std::string path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error);
  const MutexLock lock(mutex_);
  if (disk_ == nullptr || !disk_->FailsRead(path)) return false;
  ++hits_;
  return true;
}

}  // namespace cairn::simulation
