// SPDX-License-Identifier: BSD-3-Clause
#include "encoding/storage_mode.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(StorageMode, IsInTheNumbersOfKeyspacesAndCollections) {
  EXPECT_EQ(KeyspaceIn(StorageMode::kSsd, 7), 7u);
  EXPECT_EQ(KeyspaceIn(StorageMode::kHdd, 7), 0x40000007u);
  EXPECT_EQ(KeyspaceIn(StorageMode::kMemory, 7), 0x80000007u);
  EXPECT_EQ(CollectionIn(StorageMode::kMemory, 7), 0x8000000000000007u);
  for (const StorageMode mode : {StorageMode::kSsd, StorageMode::kHdd, StorageMode::kMemory}) {
    EXPECT_EQ(ModeOfKeyspace(KeyspaceIn(mode, 9)), mode);
    EXPECT_EQ(NumberOfKeyspace(KeyspaceIn(mode, 9)), 9u);
    EXPECT_EQ(ModeOfCollection(CollectionIn(mode, 9)), mode);
    EXPECT_EQ(NumberOfCollection(CollectionIn(mode, 9)), 9u);
    EXPECT_EQ(StorageModeNamed(NameOf(mode)), mode);
  }
  EXPECT_FALSE(StorageModeNamed("tape").has_value());
}

TEST(StorageMode, IsInEachRow) {
  for (const StorageMode mode : {StorageMode::kSsd, StorageMode::kHdd, StorageMode::kMemory}) {
    const KeyspaceId keyspace = KeyspaceIn(mode, 3);
    const CollectionId id = CollectionIn(mode, 5);
    const RowKey key = MakeKeyRow(keyspace, "name");
    for (const RowKey& row :
         {key, MakeKeyBound(keyspace, 0), MakeElementRow(id, "m", 0), MakeScoreRow(id, 1, "m", 0), MakeOwnerRow(id, 0),
          MakeCollectionEnd(Space::kElements, id, 0), MakeExpiryRow(1, key.row(), 0)}) {
      EXPECT_EQ(ModeOfRow(row.space(), row.row()), mode) << static_cast<int>(row.space());
    }
  }
  EXPECT_EQ(ModeOfRow(Space::kExpiries, MakeExpiryRow(1, {}, 0).row()), StorageMode::kSsd);
  EXPECT_EQ(ModeOfRow(Space::kMeta, "\xff"), StorageMode::kSsd);
}

}  // namespace
}  // namespace cairn
