// SPDX-License-Identifier: BSD-3-Clause
//
// The pieces of a key are the same value on another server, and damaged ones are refused.
#include "types/key_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collection_fixture.h"
#include "types/zset.h"

namespace cairn {
namespace {

class KeyRowsTest : public CollectionFixture {
 protected:
  std::vector<std::string> PiecesOf(std::string_view name, size_t piece_bytes) {
    std::vector<std::string> pieces;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      Status status;
      TRY(keyspace.Scan(0, [&](std::string_view found, const Record& record) {
        if (found != name) return true;
        status = EmitKeyRows(keyspace, key, record, piece_bytes, [&](std::string_view piece) {
          pieces.emplace_back(piece);
          return Ok();
        });
        return false;
      }));
      return status;
    });
    return pieces;
  }
  Status Store(std::string_view name, std::string_view piece) {
    Begin();
    Keyspace keyspace(txn(), 0, limits_);
    const Key key = keyspace.Name(name);
    Lock(key);
    Status status = StoreKeyRows(keyspace, key, piece);
    if (status.ok()) {
      Finish();
      Commit();
    } else {
      txn().AbandonCommand();
    }
    return status;
  }
};

// A large value travels in pieces, each committed alone, so no server holds it whole.
TEST_F(KeyRowsTest, PiecesAreTheWholeValue) {
  Run("z", [](Keyspace& keyspace, const Key& key) -> Status {
    Zset zset(keyspace, key);
    TRY(zset.Open());
    for (int i = 0; i < 3000; ++i) TRY(zset.Add("member" + std::to_string(i), i / 2.0, {}));
    return zset.Save();
  });
  Run("z", [](Keyspace& keyspace, const Key& key) -> Status {
    const KeyEntry entry = TRY(keyspace.Find(key));
    return keyspace.SetExpiry(key, entry, now_ms() + 5000);
  });
  Commit();
  const std::vector<std::string> pieces = PiecesOf("z", 4096);
  ASSERT_GT(pieces.size(), 10);
  for (const std::string& piece : pieces) ASSERT_TRUE(Store("copy", piece).ok());
  EXPECT_EQ(PiecesOf("copy", SIZE_MAX).size(), 1);
  Run("copy", [](Keyspace& keyspace, const Key& key) -> Status {
    EXPECT_EQ(TRY(keyspace.Find(key)).expire_ms(), now_ms() + 5000);
    Zset zset(keyspace, key);
    TRY(zset.Open());
    EXPECT_EQ(zset.size(), 3000);
    EXPECT_EQ(TRY(zset.Score("member2999")), 1499.5);
    EXPECT_EQ(TRY(zset.Score("member0")), 0);
    return Ok();
  });
}

TEST_F(KeyRowsTest, DamagedPiecesAreRefused) {
  Run("z", [](Keyspace& keyspace, const Key& key) -> Status {
    Zset zset(keyspace, key);
    TRY(zset.Open());
    for (int i = 0; i < 300; ++i) TRY(zset.Add("member" + std::to_string(i), i, {}));
    return zset.Save();
  });
  Commit();
  const std::vector<std::string> pieces = PiecesOf("z", SIZE_MAX);
  ASSERT_EQ(pieces.size(), 1);
  const std::string& whole = pieces[0];
  EXPECT_FALSE(Store("d", "").ok());
  EXPECT_FALSE(Store("d", std::string(1, '\0')).ok());  // continues a key that does not exist
  EXPECT_FALSE(Store("d", std::string_view(whole).substr(0, whole.size() - 1)).ok());
  EXPECT_FALSE(Store("d", whole + '\x01').ok());
  EXPECT_TRUE(Store("d", whole).ok());
}

}  // namespace
}  // namespace cairn
