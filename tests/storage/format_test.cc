// SPDX-License-Identifier: BSD-3-Clause
//
// Data of an older format is read and converted when it is opened; data of a newer format is not touched.
#include "storage/format.h"

#include <rocksdb/db.h>

#include "storage/store_fixture.h"

namespace cairn {
namespace {

class FormatTest : public StoreFixture {
 protected:
  rocksdb::Slice Row() const { return {kFormatRow.data(), kFormatRow.size()}; }
  std::string Stored() {
    std::string value;
    EXPECT_TRUE(store().engine().db().Get({}, store().engine().family(Space::kMeta), Row(), &value).ok());
    return value;
  }
};

TEST_F(FormatTest, TheFirstFormatIsReadAndUpgraded) {
  Begin();
  const Limits limits;
  Keyspace keys(txn(), 0, limits);
  const Key key = keys.Name("k");
  Lock(key);
  const auto missing = keys.Find(key);
  ASSERT_TRUE(keys.Write(key, *missing, {.type = Type::kString}, "text").ok());
  Finish();
  Commit();
  ASSERT_TRUE(store()
                  .engine()
                  .db()
                  .Put({}, store().engine().family(Space::kMeta), Row(),
                       "\x01"
                       "cairn")
                  .ok());
  Reopen();
  EXPECT_EQ(Stored(),
            "\x04"
            "cairn");
  Begin();
  Keyspace again(txn(), 0, limits);
  EXPECT_EQ(again.Find(again.Name("k"))->payload(), "text");
  Finish();
}

TEST_F(FormatTest, AnotherProgramsDataIsRefused) {
  EXPECT_TRUE(CheckFormat("\x01"
                          "cairn")
                  .ok());
  EXPECT_TRUE(CheckFormat(EncodeFormat()).ok());
  EXPECT_EQ(CheckFormat("\x05"
                        "cairn")
                .text(),
            "the data is of format 5, this program reads formats 1 to 4");
  EXPECT_TRUE(CheckFormat("\x02"
                          "other")
                  .Is(Code::kCorruption));
}

}  // namespace
}  // namespace cairn
