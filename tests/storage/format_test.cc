// SPDX-License-Identifier: BSD-3-Clause
//
// Data of an older format is read and converted when it is opened; data of a newer format is not touched.
#include "storage/format.h"

#include <rocksdb/db.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

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

// A database of RocksDB that Cairn did not make, or whose making was interrupted.
class OtherDatabaseTest : public testing::Test {
 protected:
  OtherDatabaseTest() { std::filesystem::remove_all(dir_); }
  ~OtherDatabaseTest() override { std::filesystem::remove_all(dir_); }

  // Opens it with the family `default` alone, and puts the rows.
  void Make(const std::vector<std::string>& rows) {
    rocksdb::Options options;
    options.create_if_missing = true;
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(options, dir_, &opened).ok());
    const std::unique_ptr<rocksdb::DB> db(opened);
    for (const std::string& row : rows) ASSERT_TRUE(db->Put({}, row, "value").ok());
  }
  std::string Refusal() {
    StoreOptions options;
    options.dir = dir_;
    options.budget = Budget::Of(64 << 20);
    return std::string(Store::Open(options).status().text());
  }
  std::set<std::string> Files() {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir_)) names.insert(entry.path().filename());
    return names;
  }

  const std::string dir_ = testing::TempDir() + "other-database." + std::to_string(getpid());
};

// With Cairn's families its owner could not open it any more.
TEST_F(OtherDatabaseTest, IsRefusedAndLeftAsItIs) {
  for (const char* row : {"row", "format"}) {
    Make({row});
    const std::set<std::string> before = Files();
    EXPECT_EQ(Refusal(), "the directory holds a RocksDB database that is not Cairn's");
    EXPECT_EQ(Files(), before);
    Make({});  // its owner can still open it
    std::filesystem::remove_all(dir_);
  }
}

TEST_F(OtherDatabaseTest, WithoutRowsIsAnInterruptedFirstStart) {
  Make({});
  EXPECT_EQ(Refusal(), "");
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
