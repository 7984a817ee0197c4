// SPDX-License-Identifier: BSD-3-Clause
#include "base/file_mode.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace cairn {
namespace {

constexpr mode_t kHidden = 0027;

}  // namespace

void HideFilesFromOthers() {
  const mode_t before = umask(kHidden);
  umask(before | kHidden);
}

Status GiveFiles(const std::string& folder, uid_t user, gid_t group) {
  if (user == geteuid() && group == getegid()) return Ok();
  const auto failed = [&] { return Status::Io("cannot give " + folder + " its owner: " + std::strerror(errno)); };
  if (lchown(folder.c_str(), user, group) != 0) return failed();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (lchown(entry.path().c_str(), user, group) != 0) return failed();
  }
  return Ok();
}

Status GiveFilesAsRoot(const std::string& folder, const std::string& like) {
  struct stat about {};
  if (geteuid() != 0) return Ok();
  if (stat(like.c_str(), &about) != 0) return Status::Io(like + ": " + std::strerror(errno));
  return GiveFiles(folder, about.st_uid, about.st_gid);
}

}  // namespace cairn
