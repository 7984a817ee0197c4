// SPDX-License-Identifier: BSD-3-Clause
//
// Large files are truncated before they are removed, unless others share their bytes.
#include "base/remove_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace cairn {
namespace {

constexpr size_t kMegabyte = 1 << 20;

class RemoveFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "cairn-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (std::filesystem::path(folder_) / name).string(); }
  std::string MakeFile(const std::string& name, size_t bytes) const {
    std::ofstream(Path(name)) << std::string(bytes, 'x');
    return Path(name);
  }

  std::string folder_;
};

TEST_F(RemoveFileTest, AtMostOnePieceIsLeft) {
  for (const size_t bytes : {size_t{0}, size_t{1}, kMegabyte, kMegabyte + 1, 5 * kMegabyte + 3}) {
    const std::string path = MakeFile("file", bytes);
    CutDownToRemove(path);
    EXPECT_LE(std::filesystem::file_size(path), kMegabyte) << bytes;
    EXPECT_EQ(std::filesystem::file_size(path) == 0, bytes == 0) << bytes;
  }
}

TEST_F(RemoveFileTest, AFileWithAnotherHardLinkIsNotTruncated) {
  const std::string path = MakeFile("file", 3 * kMegabyte);
  std::filesystem::create_hard_link(path, Path("other"));
  std::filesystem::create_symlink(path, Path("points"));
  CutDownToRemove(path);
  EXPECT_EQ(std::filesystem::file_size(Path("other")), 3 * kMegabyte);
  std::filesystem::remove(Path("other"));
  CutDownToRemove(Path("points"));
  EXPECT_EQ(std::filesystem::file_size(path), 3 * kMegabyte);
}

TEST_F(RemoveFileTest, OtherThanRegularFilesAreSkipped) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  for (const std::string& path : {Path("pipe"), Path("none"), folder_}) CutDownToRemove(path);
  EXPECT_TRUE(std::filesystem::is_fifo(Path("pipe")));
}

TEST_F(RemoveFileTest, AFolderIsRemovedWithItsContent) {
  const std::string top = Path("top");
  std::filesystem::create_directories(top + "/below/empty");
  MakeFile("top/large", 3 * kMegabyte);
  MakeFile("top/below/small", 10);
  const std::string outside = MakeFile("outside", 3 * kMegabyte);
  std::filesystem::create_symlink(outside, top + "/points");
  RemoveFolder(top);
  EXPECT_FALSE(std::filesystem::exists(top));
  EXPECT_EQ(std::filesystem::file_size(outside), 3 * kMegabyte);
  RemoveFolder(top);  // it does not exist any more
}

}  // namespace
}  // namespace cairn
