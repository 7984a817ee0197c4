// SPDX-License-Identifier: BSD-3-Clause
#include "storage/row_hashes.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(RowNamesTest, RulesOutWhatWasNotWrittenToAnEmptyStore) {
  RowHashes names(1 << 20);
  EXPECT_FALSE(names.RulesOut(1));  // nobody has said that the store is empty
  names.NoteEmptyStore();
  EXPECT_TRUE(names.RulesOut(1));
  names.Add(1);
  EXPECT_FALSE(names.RulesOut(1));
  EXPECT_TRUE(names.RulesOut(2));
}

// A name that was forgotten for want of room must not be ruled out.
TEST(RowNamesTest, RulesOutNothingOnceItsMemoryIsUsedUp) {
  RowHashes names(32 * 100);
  names.NoteEmptyStore();
  for (uint64_t hash = 1; hash < 100; ++hash) names.Add(hash);
  EXPECT_TRUE(names.RulesOut(1000));
  names.Add(100);
  for (uint64_t hash = 1; hash <= 1000; ++hash) EXPECT_FALSE(names.RulesOut(hash)) << hash;
}

}  // namespace
}  // namespace cairn
