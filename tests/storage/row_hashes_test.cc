// SPDX-License-Identifier: BSD-3-Clause
#include "storage/row_hashes.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(RowHashesTest, RulesOutRowsNotWrittenToAnEmptyStore) {
  RowHashes names(1 << 20);
  EXPECT_FALSE(names.RulesOut(1));  // the store is not known to be empty
  names.NoteEmptyStore();
  EXPECT_TRUE(names.RulesOut(1));
  names.Add(1);
  EXPECT_FALSE(names.RulesOut(1));
  EXPECT_TRUE(names.RulesOut(2));
}

// A hash that was dropped for lack of memory must not be ruled out.
TEST(RowHashesTest, RulesOutNothingOnceItsMemoryIsUsedUp) {
  RowHashes names(32 * 100);
  names.NoteEmptyStore();
  for (uint64_t hash = 1; hash < 100; ++hash) names.Add(hash);
  EXPECT_TRUE(names.RulesOut(1000));
  names.Add(100);
  for (uint64_t hash = 1; hash <= 1000; ++hash) EXPECT_FALSE(names.RulesOut(hash)) << hash;
}

}  // namespace
}  // namespace cairn
