// SPDX-License-Identifier: BSD-3-Clause
#include "base/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "base/temporary_file.h"

namespace cairn {
namespace {

constexpr mode_t kNewMode = 0600;  // these files have passwords

Status FileError() { return Status::Error(Code::kIo, std::strerror(errno)); }

// Writes a file in the folder of `path` and sets `name` to its name.
Status WriteBeside(const std::string& path, std::string_view text, std::optional<mode_t> mode, std::string& name) {
  const int fd = CreateBeside(path, kNewMode, name);
  if (fd < 0) return FileError();
  Status status;
  if (mode && fchmod(fd, *mode) != 0) status = FileError();
  while (!text.empty() && status.ok()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(written);
    } else if (errno != EINTR) {
      status = FileError();
    }
  }
  if (status.ok() && fsync(fd) != 0) status = FileError();
  close(fd);
  return status;
}

}  // namespace

Status ReplaceFile(const std::filesystem::path& path, std::string_view text) {
  struct stat old;
  std::optional<mode_t> mode;
  if (stat(path.c_str(), &old) == 0) mode = old.st_mode & 0777;
  std::string temporary;
  Status status = WriteBeside(path, text, mode, temporary);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) status = FileError();
  if (!status.ok()) {
    if (!temporary.empty()) unlink(temporary.c_str());
    return status;
  }
  return SyncFolder(std::filesystem::absolute(path).parent_path());
}

Status SyncFolder(const std::filesystem::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return FileError();
  const bool done = fsync(fd) == 0;
  Status status = done ? Ok() : FileError();
  close(fd);
  return status;
}

}  // namespace cairn
