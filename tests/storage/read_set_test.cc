// SPDX-License-Identifier: BSD-3-Clause
//
// A command that reads millions of keys must neither forget a change nor grow with them.
#include "storage/read_set.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

class ReadSetTest : public testing::Test {
 protected:
  void Read(uint32_t stripe) { reads_.Add(stripe, stripes_.Version(stripe)); }
  void Change(uint32_t stripe) {
    for (int i = 0; i < 2; ++i) stripes_.Advance(stripe);
  }
  // More reads than are kept.
  void ReadManyKeys() {
    for (uint32_t i = 0; i < 10 * kStripeCount; ++i) Read(i % (kStripeCount / 2));
  }

  Stripes stripes_;
  ReadSet reads_{stripes_};
};

TEST_F(ReadSetTest, TheFirstReadOfAStripeCounts) {
  Read(7);
  Change(7);
  Read(7);
  EXPECT_FALSE(reads_.StillHolds());
  EXPECT_FALSE(reads_.StillHolds(7));
  ReadManyKeys();
  EXPECT_FALSE(reads_.StillHolds());
  EXPECT_FALSE(reads_.StillHolds(7));
  EXPECT_TRUE(reads_.StillHolds(8));
  reads_.Clear();
  Read(7);
  EXPECT_TRUE(reads_.StillHolds());
}

TEST_F(ReadSetTest, AChangeAfterManyReadsIsSeen) {
  ReadManyKeys();
  EXPECT_TRUE(reads_.StillHolds());
  Change(kStripeCount - 1);  // not read
  EXPECT_TRUE(reads_.StillHolds());
  Change(11);
  EXPECT_FALSE(reads_.StillHolds());
  EXPECT_TRUE(reads_.StillHolds(12));
}

}  // namespace
}  // namespace cairn
