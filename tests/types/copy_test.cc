// SPDX-License-Identifier: BSD-3-Clause
//
// A copy has all the data of its original and shares no rows with it.
#include "types/copy.h"

#include <gtest/gtest.h>

#include <map>

#include "storage/store_fixture.h"
#include "types/string.h"

namespace cairn {
namespace {

using Rows = std::map<std::string, std::string>;

class CopyTest : public StoreFixture {
 protected:
  // Stores a spread collection of arbitrary rows: a copy does not interpret them.
  void WriteSpread(Type type, int64_t expire_ms) {
    Begin();
    Keyspace keys(txn(), 0, limits_);
    const Key key = keys.Name("source");
    Lock(key);
    const CollectionId id = txn().NewCollectionId(txn().databases().keyspace(0));
    for (int i = 0; i < 500; ++i) {
      const std::string member = "member" + std::to_string(i);
      txn().Put(MakeElementRow(id, member, key.stripe()), "value" + std::to_string(i));
      if (type == Type::kZset) txn().Put(MakeScoreRow(id, i, member, key.stripe()), "");
    }
    std::string payload;
    AppendSpreadPayload(payload, id, 500);
    payload += "bounds";
    const auto entry = keys.Find(key);
    const RecordHeader header = {.type = type, .encoding = Encoding::kSpread, .expire_ms = expire_ms};
    ASSERT_TRUE(keys.Write(key, *entry, header, payload).ok());
    Finish();
  }

  void Copy(int to_db) {
    Begin();
    Keyspace from(txn(), 0, limits_);
    Keyspace to(txn(), to_db, limits_);
    const Key source = from.Name("source");
    const Key target = to.Name("target");
    const uint32_t stripes[] = {source.stripe(), target.stripe()};
    ASSERT_TRUE(txn().Lock(stripes).ok());
    const auto entry = from.Find(source);
    const auto old = to.Find(target);
    ASSERT_TRUE(entry->exists());
    ASSERT_TRUE(CopyValue(source, *entry, to, target, *old).ok());
    Finish();
  }

  // All rows of the collection under a key, without the collection's id.
  Rows RowsOf(int db, std::string_view name, Space space) {
    Begin();
    Keyspace keys(txn(), db, limits_);
    const Key key = keys.Name(name);
    const auto entry = keys.Find(key);
    const auto spread = DecodeSpreadPayload(entry->payload());
    EXPECT_TRUE(spread.ok());
    Rows rows;
    Cursor cursor = txn().Scan(MakeCollectionStart(space, spread->id, key.stripe()),
                               MakeCollectionEnd(space, spread->id, key.stripe()));
    for (; cursor.Valid(); cursor.Next()) rows.emplace(cursor.row().substr(8), cursor.value());
    Finish();
    return rows;
  }

  Limits limits_;
};

TEST_F(CopyTest, HasEveryRowOfASpreadCollection) {
  for (const Type type : {Type::kHash, Type::kZset}) {
    WriteSpread(type, now_ms() + 5000);
    Copy(3);
    Commit();
    EXPECT_EQ(RowsOf(3, "target", Space::kElements).size(), 500u);
    EXPECT_EQ(RowsOf(3, "target", Space::kElements), RowsOf(0, "source", Space::kElements));
    EXPECT_EQ(RowsOf(3, "target", Space::kScores), RowsOf(0, "source", Space::kScores));
  }
}

TEST_F(CopyTest, KeepsHeaderAndBoundsUnderANewId) {
  WriteSpread(Type::kList, now_ms() + 5000);
  Copy(0);
  Begin();
  Keyspace keys(txn(), 0, limits_);
  const auto source = keys.Find(keys.Name("source"));
  const auto target = keys.Find(keys.Name("target"));
  EXPECT_EQ(target->type(), Type::kList);
  EXPECT_EQ(target->expire_ms(), now_ms() + 5000);
  const auto old_payload = DecodeSpreadPayload(source->payload());
  const auto new_payload = DecodeSpreadPayload(target->payload());
  EXPECT_NE(new_payload->id, old_payload->id);
  EXPECT_EQ(new_payload->count, 500u);
  EXPECT_EQ(new_payload->rest, "bounds");
  Finish();
}

TEST_F(CopyTest, CopiesAOneRowValue) {
  Begin();
  Keyspace keys(txn(), 0, limits_);
  const Key key = keys.Name("source");
  Lock(key);
  ASSERT_TRUE(WriteBytes(keys, key, *keys.Find(key), "text", kNoExpiry, Origin::kEdited).ok());
  Finish();
  Copy(1);
  Begin();
  Keyspace other(txn(), 1, limits_);
  const auto target = other.Find(other.Name("target"));
  EXPECT_EQ(ReadText(other, other.Name("target"), *target)->view(), "text");
  EXPECT_EQ(StringEncodingName(*target), "raw");
  EXPECT_EQ(other.Count(), 1);
  Finish();
}

}  // namespace
}  // namespace cairn
