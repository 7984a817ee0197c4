// SPDX-License-Identifier: BSD-3-Clause
#include "server/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace cairn {
namespace {

Status FileError() { return Status::Error(Code::kIo, std::strerror(errno)); }

Status WriteAndSync(const std::string& path, std::string_view text, mode_t mode) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (fd < 0) return FileError();
  Status status;
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

Status SyncFolder(const std::filesystem::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return FileError();
  const bool done = fsync(fd) == 0;
  Status status = done ? Ok() : FileError();
  close(fd);
  return status;
}

}  // namespace

Status ReplaceFile(const std::filesystem::path& path, std::string_view text) {
  std::error_code ignored;  // a file that is not there yet has no permissions to keep
  const auto old_mode = std::filesystem::status(path, ignored).permissions();
  const mode_t mode = ignored || old_mode == std::filesystem::perms::unknown
                          ? 0644
                          : static_cast<mode_t>(old_mode) & 0777;
  const std::string temporary = path.string() + "." + std::to_string(getpid()) + ".tmp";
  Status status = WriteAndSync(temporary, text, mode);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) status = FileError();
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  return SyncFolder(std::filesystem::absolute(path).parent_path());
}

}  // namespace cairn
