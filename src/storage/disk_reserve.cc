// SPDX-License-Identifier: BSD-3-Clause
#include "storage/disk_reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"

namespace cairn {
namespace {

constexpr uint64_t kMegabyte = 1 << 20;
// A manifest and a log. RocksDB allocates 4 MB for each.
constexpr uint64_t kNewFilesBytes = 8 * kMegabyte;
// One table that is compacted into the next level, and the ten tables there that it overlaps.
constexpr uint64_t kTablesPerCompaction = 12;
constexpr uint64_t kMostShareOfDisk = 5;
// Multiples of the reserve. With this much space left, no other program takes all of it between two checks.
constexpr uint64_t kPlenty = 4;
constexpr uint64_t kPlentyForRemoval = 6;

// AllocatedBytes counts blocks because a copy of the file may have none.
uint64_t AllocatedBytes(const std::string& path) {
  constexpr uint64_t kBlockBytes = 512;
  struct stat file {};
  return stat(path.c_str(), &file) == 0 ? static_cast<uint64_t>(file.st_blocks) * kBlockBytes : 0;
}

}  // namespace

DiskSpace DiskSpaceOf(const std::string& dir) {
  struct statvfs disk {};
  if (statvfs(dir.c_str(), &disk) != 0) return {};
  const auto unit = static_cast<uint64_t>(disk.f_frsize);
  return {.total = disk.f_blocks * unit, .free = disk.f_bavail * unit};
}

ReserveSize SizeOfReserve(uint64_t wanted, uint64_t unflushed_bytes, uint64_t table_bytes, uint64_t disk_bytes) {
  const uint64_t reopening = unflushed_bytes + kNewFilesBytes;
  ReserveSize size{.all = wanted};
  if (wanted == 0) {
    size.all = std::min(reopening + kTablesPerCompaction * table_bytes, disk_bytes / kMostShareOfDisk);
  }
  size.kept = std::min(reopening, size.all / 2);
  return size;
}

DiskReserve::DiskReserve(std::string dir) : dir_(std::move(dir)), held_(AllocatedBytes(FilePath())) {
  if (held_ == 0 || DiskSpaceOf(dir_).free >= held_) return;
  unlink(FilePath().c_str());
  held_ = 0;
}

void DiskReserve::SetSize(const ReserveSize& size) {
  {
    const MutexLock lock(mutex_);
    all_ = size.all;
    kept_ = size.kept;
    if (held_ > size.kept) RemoveFile();
  }
  Look();
}

uint64_t DiskReserve::free_bytes() const {
  return static_cast<uint64_t>(std::max<int64_t>(0, free_.load(std::memory_order_relaxed)));
}

void DiskReserve::Look() {
  const DiskSpace disk = DiskSpaceOf(dir_);
  if (disk.total == 0) return;
  const MutexLock lock(mutex_);
  free_ = static_cast<int64_t>(disk.free);
  if (held_ != 0) held_ = std::min(held_.load(), AllocatedBytes(FilePath()));  // another process may have removed it
  const uint64_t left = left_bytes();
  if (held_ != 0 && left >= kPlentyForRemoval * all_) {
    RemoveFile();
  } else if (held_ < kept_ && left >= kept_ + 2 * slack() && left < kPlenty * all_) {
    MakeFile();
  }
  UpdateLevel();
}

Status DiskReserve::CheckGrowth() const {
  return level() == Level::kPlenty ? Ok() : Status::Io("the disk is full up to min-free-disk");
}

void DiskReserve::MakeFile() {
  if (!can_allocate_) return;
  const int fd = open(FilePath().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return;
  const bool is_made = fallocate(fd, 0, 0, static_cast<off_t>(kept_.load())) == 0;
  const int error = errno;
  close(fd);
  if (is_made) {
    free_ -= static_cast<int64_t>(kept_ - held_);
    held_ = kept_.load();
    return;
  }
  can_allocate_ = error != EOPNOTSUPP;
  RemoveFile();
  if (!can_allocate_) {
    Log(LogSeverity::kWarning, "storage: the file system cannot reserve min-free-disk against other programs: {}",
        std::strerror(error));
  }
}

void DiskReserve::RemoveFile() {
  unlink(FilePath().c_str());
  free_ += static_cast<int64_t>(held_.exchange(0));
}

void DiskReserve::LetGo() {
  const MutexLock lock(mutex_);
  if (held_ == 0 || free_bytes() >= slack()) return;
  Log(LogSeverity::kWarning,
      "storage: removed the file that reserved {} MB against other programs, because RocksDB needs the space",
      held_ / kMegabyte);
  RemoveFile();
}

void DiskReserve::NoteWritten(uint64_t bytes) {
  free_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  if (left_bytes() >= LevelEnd(level())) return;
  const MutexLock lock(mutex_);
  UpdateLevel();
}

bool DiskReserve::HasRoomForCompaction(uint64_t bytes) const {
  return left_bytes() >= kept_ + 4 * slack() + unflushed_ + bytes;
}

uint64_t DiskReserve::LevelEnd(Level level) const {
  if (level == Level::kPlenty) return all_ + pending_;
  return level == Level::kLow ? kept_ + slack() : 0;
}

std::string_view DiskReserve::level_name() const {
  static constexpr std::string_view kNames[] = {"plenty", "low", "full"};
  return kNames[static_cast<int>(level())];
}

void DiskReserve::UpdateLevel() {
  const Level before = level_;
  const uint64_t left = left_bytes();
  // Hysteresis: a better level needs some more space, so that commands are not refused and accepted in turn.
  Level now = Level::kPlenty;
  if (left < LevelEnd(Level::kPlenty) + (before == Level::kPlenty ? 0 : slack())) now = Level::kLow;
  if (left < kept_ + (before == Level::kFull ? 3 * slack() : slack())) now = Level::kFull;
  if (now == before) return;
  level_ = now;
  if (listener_) listener_(now);
  static constexpr std::string_view kTexts[] = {
      "the disk has space again: all commands are accepted",
      "the disk is full up to min-free-disk: commands that may grow the data are refused, deletes are accepted",
      "the disk is full and most of min-free-disk is used: only FLUSHALL, FLUSHDB and COMPACT are accepted"};
  Log(now == Level::kPlenty ? LogSeverity::kNotice : LogSeverity::kWarning, "storage: {} ({} of {} MB are left)",
      kTexts[static_cast<int>(now)], left / kMegabyte, LevelEnd(Level::kPlenty) / kMegabyte);
}

}  // namespace cairn
