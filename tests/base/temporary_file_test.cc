// SPDX-License-Identifier: BSD-3-Clause
//
// Temporary files: their names cannot be guessed.
#include "base/temporary_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace cairn {
namespace {

TEST(TemporaryFileTest, EachFileHasAUniqueNameAndTheGivenPermissions) {
  const std::string path = std::filesystem::temp_directory_path() / "cairn-test-temporary";
  std::string first;
  std::string second;
  const int first_fd = CreateBeside(path, 0640, first);
  const int second_fd = CreateBeside(path, 0600, second);
  ASSERT_GE(first_fd, 0);
  ASSERT_GE(second_fd, 0);
  EXPECT_TRUE(first.starts_with(path + ".") && first.ends_with(".tmp"));
  EXPECT_NE(first, second);
  struct stat about;
  ASSERT_EQ(fstat(second_fd, &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  for (const int fd : {first_fd, second_fd}) close(fd);
  for (const std::string& name : {first, second}) unlink(name.c_str());
}

TEST(TemporaryFileTest, AMissingFolderIsAnError) {
  std::string name;
  EXPECT_EQ(CreateBeside("/nonexistent/folder/file", 0600, name), -1);
}

}  // namespace
}  // namespace cairn
