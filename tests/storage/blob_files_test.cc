// SPDX-License-Identifier: BSD-3-Clause
#include "storage/blob_files.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn {
namespace {

using Files = std::vector<BlobFile>;

constexpr uint64_t kNoStep = UINT64_MAX;

// How many of the oldest files RocksDB empties.
size_t Emptied(const Files& files, double share, uint64_t step_bytes) {
  return static_cast<size_t>(BlobCutoff(files, share, step_bytes) * static_cast<double>(files.size()));
}

TEST(BlobCutoff, IsZeroWhileTheGarbageIsWithinItsShare) {
  EXPECT_EQ(BlobCutoff({}, 0.25, kNoStep), 0);
  EXPECT_EQ(BlobCutoff(Files{{100, 50}, {100, 0}}, 0.25, kNoStep), 0);
  EXPECT_EQ(BlobCutoff(Files{{100, 100}}, 1.0, kNoStep), 0);  // 100 percent is never
}

TEST(BlobCutoff, EndsWhereTheGarbageThatIsLeftIsWithinItsShare) {
  EXPECT_EQ(Emptied({{100, 60}, {100, 60}, {100, 20}, {100, 0}}, 0.3, kNoStep), 1U);  // 80 of 340 are left
  EXPECT_EQ(Emptied({{100, 60}, {100, 60}, {100, 20}, {100, 0}}, 0.2, kNoStep), 2U);  // 20 of 280
  EXPECT_EQ(Emptied({{100, 60}, {100, 60}, {100, 20}, {100, 0}}, 0.0, kNoStep), 3U);
  EXPECT_EQ(BlobCutoff(Files{{100, 60}, {100, 60}}, 0.0, kNoStep), 1);
}

// The garbage may be in young files: older ones are emptied on the way.
TEST(BlobCutoff, CountsFilesWithoutGarbageThatAreOlder) {
  EXPECT_EQ(Emptied({{100, 0}, {100, 0}, {100, 90}, {100, 0}}, 0.2, kNoStep), 3U);
}

TEST(BlobCutoff, IsBoundedByTheValuesThatMoveButCoversAFile) {
  const Files files{{100, 60}, {400, 340}, {100, 60}, {100, 60}, {100, 0}};
  EXPECT_EQ(Emptied(files, 0.1, 100), 2U);
  EXPECT_EQ(Emptied(files, 0.1, 99), 1U);
  EXPECT_EQ(Emptied(files, 0.1, 140), 3U);
  EXPECT_EQ(Emptied(files, 0.1, 1), 1U);
}

// RocksDB multiplies the cutoff by the number of files and rounds the product down.
TEST(BlobCutoff, GivesTheSameNumberForAnyNumberOfFiles) {
  for (size_t count = 1; count <= 2000; count += 7) {
    const Files files(count, BlobFile{.bytes = 100, .garbage = 50});
    EXPECT_EQ(Emptied(files, 0.1, 50), 1U);
    EXPECT_EQ(Emptied(files, 0.0, kNoStep), count);
  }
}

}  // namespace
}  // namespace cairn
