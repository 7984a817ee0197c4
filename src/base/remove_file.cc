// SPDX-License-Identifier: BSD-3-Clause
#include "base/remove_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace cairn {
namespace {

constexpr off_t kPieceBytes = 1 << 20;

}  // namespace

void CutDownToRemove(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  struct stat about {};
  if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 1) {
    off_t size = about.st_size;
    while (size > kPieceBytes && ftruncate(fd, size - kPieceBytes) == 0) size -= kPieceBytes;
  }
  close(fd);
}

void RemoveFolder(const std::string& path) {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    CutDownToRemove(entry->path().string());
  }
  std::filesystem::remove_all(path, error);
}

}  // namespace cairn
