// SPDX-License-Identifier: BSD-3-Clause
#include "rdb/rdb_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/replace_file.h"
#include "base/temporary_file.h"
#include "rdb/rdb_file.h"

namespace cairn {
namespace {

Status FileError(const std::string& path) { return Status::Io(path + ": " + std::strerror(errno)); }

constexpr mode_t kMode = 0640;

bool BeginsAsRdb(std::string_view begin) { return begin.starts_with(kRdbMagic) || begin.starts_with(kValkeyMagic); }

}  // namespace

Status CheckMayBeReplaced(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return errno == ENOENT ? Ok() : FileError(path);
  struct stat about {};
  char begin[std::max(kRdbMagic.size(), kValkeyMagic.size())];
  const bool is_regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
  const ssize_t got = is_regular ? read(fd, begin, sizeof begin) : -1;
  close(fd);
  const bool is_rdb = got > 0 && BeginsAsRdb({begin, static_cast<size_t>(got)});
  return is_rdb || got == 0 ? Ok() : Status::Io(path + " exists and is not an RDB file; it is not replaced");
}

RdbOutputFile::RdbOutputFile(std::string path) : path_(std::move(path)) {}

RdbOutputFile::~RdbOutputFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(temporary_.c_str());
}

Status RdbOutputFile::Open() {
  TRY(CheckMayBeReplaced(path_));
  fd_ = CreateBeside(path_, kMode, temporary_);
  return fd_ < 0 ? FileError(temporary_) : Ok();
}

Status RdbOutputFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      return FileError(temporary_);
    }
  }
  return Ok();
}

Status RdbOutputFile::Finish() {
  if (fsync(fd_) != 0) return FileError(temporary_);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) return FileError(path_);
  close(std::exchange(fd_, -1));
  const Status synced = SyncFolder(std::filesystem::absolute(path_).parent_path());
  return synced.ok() ? Ok() : Status::Io("the folder of " + path_ + ": " + std::string(synced.text()));
}

RdbInputFile::~RdbInputFile() {
  if (fd_ > STDIN_FILENO) close(fd_);
}

Status RdbInputFile::Open(const std::string& path) {
  fd_ = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) return FileError(path);
  struct stat about;
  if (fstat(fd_, &about) == 0 && S_ISREG(about.st_mode)) size_ = static_cast<uint64_t>(about.st_size);
  return Ok();
}

Status RdbInputFile::Skip(uint64_t offset) {
  return lseek(fd_, static_cast<off_t>(offset), SEEK_SET) < 0 ? FileError("RDB file") : Ok();
}

RdbSource RdbInputFile::source() {
  return [this](char* into, size_t most) -> Result<size_t> {
    for (;;) {
      const ssize_t got = read(fd_, into, most);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) return FileError("RDB file");
    }
  };
}

}  // namespace cairn
