// SPDX-License-Identifier: BSD-3-Clause
//
// How a limit on open files is divided between clients and tables.
#include "server/descriptors.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(DescriptorsTest, EveryoneGetsWhatIsAskedForWhereThereIsEnough) {
  const DescriptorShares shares = DivideDescriptors(1000000, 10000);
  EXPECT_EQ(shares.clients, 10000u);
  EXPECT_EQ(shares.tables, 990000u);
}

TEST(DescriptorsTest, TablesKeepHalfOfLittleAndWhatTheyNeedOfMore) {
  EXPECT_EQ(DivideDescriptors(800, 10000).clients, 400u);
  EXPECT_EQ(DivideDescriptors(800, 10000).tables, 400u);
  EXPECT_EQ(DivideDescriptors(10000, 10000).tables, kWantedTables);
  EXPECT_EQ(DivideDescriptors(10000, 10000).clients, 10000 - kWantedTables);
}

TEST(DescriptorsTest, WhatClientsLeaveBelongsToTables) {
  EXPECT_EQ(DivideDescriptors(800, 100).clients, 100u);
  EXPECT_EQ(DivideDescriptors(800, 100).tables, 700u);
}

TEST(DescriptorsTest, TooFewAreForNobody) {
  EXPECT_EQ(DivideDescriptors(2 * kFewestTables - 1, 1).clients, 0u);
  EXPECT_EQ(DivideDescriptors(2 * kFewestTables, 100).clients, kFewestTables);
}

}  // namespace
}  // namespace cairn
