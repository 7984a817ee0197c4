// SPDX-License-Identifier: BSD-3-Clause
#include "storage/flush_nudge.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace cairn {
namespace {

using std::chrono::milliseconds;

// A database in memory alone, with one row in its memtable.
class LostFlushWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.env = env_.get();
    rocksdb::DB* db = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(options, "/lost-flush", &db).ok());
    db_.reset(db);
    families_ = {db_->DefaultColumnFamily()};
    ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), "key", "value").ok());
  }

  // As after an error: a flush is asked for, and no thread works on it.
  void AskForFlush() {
    rocksdb::FlushOptions options;
    options.wait = false;
    ASSERT_TRUE(db_->Flush(options).ok());
  }
  void WatchFor(milliseconds time) {
    const LostFlushWatch watch(*db_, families_, milliseconds(300));
    std::this_thread::sleep_for(time);
  }

  const std::unique_ptr<rocksdb::Env> env_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

TEST_F(LostFlushWatchTest, AFlushThatNobodyWorksOnEndsTheProcess) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        ASSERT_TRUE(db_->PauseBackgroundWork().ok());
        AskForFlush();
        WatchFor(milliseconds(10000));
      },
      testing::ExitedWithCode(1), "");
}

TEST_F(LostFlushWatchTest, AFlushThatIsDoneDoesNot) {
  AskForFlush();
  WatchFor(milliseconds(700));
  std::string value;
  EXPECT_TRUE(db_->Get(rocksdb::ReadOptions(), "key", &value).ok());
}

}  // namespace
}  // namespace cairn
