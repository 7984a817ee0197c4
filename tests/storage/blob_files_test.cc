// SPDX-License-Identifier: BSD-3-Clause
#include "storage/blob_files.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

constexpr uint64_t kNoStep = UINT64_MAX;

TEST(BlobCutoff, IsZeroWhileTheGarbageIsWithinItsShare) {
  EXPECT_EQ(BlobCutoff({}, 0.25, kNoStep), 0);
  EXPECT_EQ(BlobCutoff({.files = 10, .bytes = 100, .garbage = 25}, 0.25, kNoStep), 0);
  EXPECT_EQ(BlobCutoff({.files = 10, .bytes = 100, .garbage = 100}, 1.0, kNoStep), 0);  // 100 percent is never
}

// A quarter more garbage than allowed is in the oldest quarter of the files, or in fewer of them.
TEST(BlobCutoff, CoversTheGarbageThatIsTooMuch) {
  EXPECT_DOUBLE_EQ(BlobCutoff({.files = 100, .bytes = 1000, .garbage = 400}, 0.3, kNoStep), 0.25);
  EXPECT_DOUBLE_EQ(BlobCutoff({.files = 100, .bytes = 1000, .garbage = 1000}, 0.0, kNoStep), 1);
}

TEST(BlobCutoff, IsBoundedByTheStepButCoversAFile) {
  EXPECT_DOUBLE_EQ(BlobCutoff({.files = 100, .bytes = 1000, .garbage = 400}, 0.2, 100), 0.1);
  EXPECT_GE(BlobCutoff({.files = 100, .bytes = 1000, .garbage = 400}, 0.2, 1) * 100, 1);
  EXPECT_EQ(BlobCutoff({.files = 1, .bytes = 1000, .garbage = 400}, 0.2, 1), 1);
}

}  // namespace
}  // namespace cairn
