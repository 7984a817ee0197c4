// SPDX-License-Identifier: BSD-3-Clause
//
// The disk reserve: its size, and that a fast writer cannot use it up between two checks of the disk.
// tests/crash/test_disk_reserve.py fills a file system.
#include "storage/disk_reserve.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

namespace cairn {
namespace {

constexpr uint64_t kMegabyte = 1 << 20;
using Level = DiskReserve::Level;

class DiskReserveTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "cairn-test-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  // A reserve so large that the free space is not plenty for it.
  uint64_t HalfOfDisk() const { return DiskSpaceOf(dir_).free / 2; }

  std::string dir_;
};

TEST_F(DiskReserveTest, TheDefaultCoversReopeningAndACompaction) {
  const ReserveSize size = SizeOfReserve(0, 256 * kMegabyte, 32 * kMegabyte, 100'000 * kMegabyte);
  EXPECT_EQ(size.kept, 264 * kMegabyte);
  EXPECT_EQ(size.all, (264 + 12 * 32) * kMegabyte);
}

TEST_F(DiskReserveTest, TheDefaultIsAFifthOfASmallDisk) {
  EXPECT_EQ(SizeOfReserve(0, 256 * kMegabyte, 32 * kMegabyte, 300 * kMegabyte).all, 60 * kMegabyte);
}

// The rest of the reserve is for other commands.
TEST_F(DiskReserveTest, TheFileHoldsAtMostHalf) {
  EXPECT_EQ(SizeOfReserve(10 * kMegabyte, 256 * kMegabyte, 32 * kMegabyte, 100'000 * kMegabyte).kept, 5 * kMegabyte);
}

TEST_F(DiskReserveTest, WrittenBytesCountBeforeTheNextCheckOfTheDisk) {
  DiskReserve reserve(dir_);
  std::vector<Level> heard;
  reserve.set_listener([&heard](Level level) { heard.push_back(level); });
  reserve.SetSize({.all = 2 * kMegabyte, .kept = kMegabyte});
  EXPECT_EQ(reserve.level(), Level::kPlenty);
  reserve.NoteWritten(reserve.free_bytes() - 3 * kMegabyte / 2);
  EXPECT_EQ(reserve.level(), Level::kLow);
  EXPECT_FALSE(reserve.CheckGrowth().ok());
  EXPECT_FALSE(reserve.HasRoomForCompaction(kMegabyte));
  reserve.Look();
  EXPECT_EQ(heard, (std::vector{Level::kLow, Level::kPlenty}));
  EXPECT_TRUE(reserve.HasRoomForCompaction(kMegabyte));
}

TEST_F(DiskReserveTest, CompactionsLeaveRoomForFlushesAndDeletes) {
  DiskReserve reserve(dir_);
  reserve.SetSize({.all = 10 * kMegabyte, .kept = 2 * kMegabyte});
  reserve.NoteWritten(reserve.free_bytes() - 9 * kMegabyte);
  EXPECT_TRUE(reserve.HasRoomForCompaction(3 * kMegabyte));
  EXPECT_FALSE(reserve.HasRoomForCompaction(4 * kMegabyte));
  reserve.SetPending(0, 2 * kMegabyte);
  EXPECT_TRUE(reserve.HasRoomForCompaction(kMegabyte));
  EXPECT_FALSE(reserve.HasRoomForCompaction(2 * kMegabyte));
}

TEST_F(DiskReserveTest, TheFileHasTheGivenSize) {
  DiskReserve reserve(dir_);
  for (const uint64_t kept : {2 * kMegabyte, 3 * kMegabyte, kMegabyte, uint64_t{0}}) {
    reserve.SetSize({.all = kept == 0 ? 0 : HalfOfDisk(), .kept = kept});
    EXPECT_EQ(reserve.held_bytes(), kept);
    EXPECT_EQ(std::filesystem::exists(dir_ + "/reserve"), kept != 0);
  }
}

TEST_F(DiskReserveTest, WithPlentyOfSpaceThereIsNoFile) {
  DiskReserve reserve(dir_);
  reserve.SetSize({.all = HalfOfDisk(), .kept = kMegabyte});
  reserve.SetSize({.all = 2 * kMegabyte, .kept = kMegabyte});
  EXPECT_EQ(reserve.held_bytes(), 0u);
  EXPECT_FALSE(std::filesystem::exists(dir_ + "/reserve"));
}

// A tool, or a second server, may remove it before it is refused.
TEST_F(DiskReserveTest, AFileThatAnotherProcessHasRemovedIsMadeAgain) {
  DiskReserve reserve(dir_);
  reserve.SetSize({.all = HalfOfDisk(), .kept = kMegabyte});
  ASSERT_TRUE(std::filesystem::remove(dir_ + "/reserve"));
  reserve.Look();
  EXPECT_EQ(reserve.held_bytes(), kMegabyte);
  EXPECT_EQ(std::filesystem::file_size(dir_ + "/reserve"), kMegabyte);
}

TEST_F(DiskReserveTest, AnotherProcessTakesOverTheFile) {
  DiskReserve(dir_).SetSize({.all = HalfOfDisk(), .kept = kMegabyte});
  const DiskReserve reserve(dir_);
  EXPECT_EQ(reserve.held_bytes(), kMegabyte);
}

}  // namespace
}  // namespace cairn
