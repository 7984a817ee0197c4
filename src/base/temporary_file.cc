// SPDX-License-Identifier: BSD-3-Clause
#include "base/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string_view>
#include <system_error>

namespace cairn {
namespace {

constexpr std::string_view kExtension = ".tmp";
constexpr size_t kDigits = 16;

// Whether CreateBeside gives such names to the files beside `whole`.
bool IsTemporaryOf(std::string_view name, std::string_view whole) {
  if (name.size() != whole.size() + 1 + kDigits + kExtension.size() || !name.starts_with(whole)) return false;
  if (name[whole.size()] != '.' || !name.ends_with(kExtension)) return false;
  const std::string_view digits = name.substr(whole.size() + 1, kDigits);
  return digits.find_first_not_of("0123456789abcdef") == digits.npos;
}

}  // namespace

int CreateBeside(const std::string& path, mode_t mode, std::string& name) {
  std::random_device random;  // the kernel's random numbers
  for (;;) {
    name = fmt::format("{}.{:0{}x}{}", path, uint64_t{random()} << 32 | random(), kDigits, kExtension);
    const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
}

void DeleteUnfinishedBeside(const std::string& path) {
  const std::filesystem::path whole = std::filesystem::absolute(path);
  std::error_code error;
  std::filesystem::directory_iterator file(whole.parent_path(), error);
  for (const std::filesystem::directory_iterator end; !error && file != end; file.increment(error)) {
    std::error_code ignored;
    if (IsTemporaryOf(file->path().filename().string(), whole.filename().string())) {
      std::filesystem::remove(file->path(), ignored);
    }
  }
}

}  // namespace cairn
