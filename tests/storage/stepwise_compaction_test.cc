// SPDX-License-Identifier: BSD-3-Clause
#include "storage/stepwise_compaction.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/utilities/stackable_db.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace cairn {
namespace {

// A database that refuses a number of calls of CompactFiles.
class RefusingDb : public rocksdb::StackableDB {
 public:
  explicit RefusingDb(rocksdb::DB* db) : StackableDB(db) {}
  void Refuse(int calls) { refusals_ = calls; }

  using StackableDB::CompactFiles;
  rocksdb::Status CompactFiles(const rocksdb::CompactionOptions& options, rocksdb::ColumnFamilyHandle* family,
                               const std::vector<std::string>& names, const int level, const int path,
                               std::vector<std::string>* const outputs, rocksdb::CompactionJobInfo* info) override {
    if (refusals_-- > 0) return rocksdb::Status::InvalidArgument("an unknown option");
    return StackableDB::CompactFiles(options, family, names, level, path, outputs, info);
  }

 private:
  int refusals_ = 0;
};

class RefusedCompaction : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "cairn-test-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
    rocksdb::Options options;
    options.create_if_missing = true;
    rocksdb::DB* db = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(options, dir_, &db).ok());
    db_ = std::make_unique<RefusingDb>(db);
    ASSERT_TRUE(db_->Put({}, "key", "value").ok());
  }
  void TearDown() override {
    db_.reset();
    std::filesystem::remove_all(dir_);
  }

  Status Compact() {
    const CompactionRange range{};
    return StepwiseCompaction({.db = *db_,
                               .family = db_->DefaultColumnFamily(),
                               .range = range,
                               .rewrites_bottom = false,
                               .most_threads = 1,
                               .await_turn =
                                   [this](bool is_stuck) {
                                     stuck_passes_ += is_stuck;
                                     return Ok();
                                   },
                               .count = [](uint64_t, uint64_t) {}})
        .Run();
  }
  std::string FilesAt(int level) const {
    std::string files;
    db_->GetProperty("rocksdb.num-files-at-level" + std::to_string(level), &files);
    return files;
  }

  std::string dir_;
  std::unique_ptr<RefusingDb> db_;
  int stuck_passes_ = 0;
};

// A table that an automatic compaction has just taken is refused like this.
TEST_F(RefusedCompaction, IsTriedAgain) {
  db_->Refuse(5);
  EXPECT_TRUE(Compact().ok());
  EXPECT_EQ(stuck_passes_, 5);
  EXPECT_EQ(FilesAt(0), "0");
  EXPECT_EQ(FilesAt(6), "1");
}

// Otherwise COMPACT would wait for ever, and the scheduled compactions behind it.
TEST_F(RefusedCompaction, EndsWithTheErrorAfterManyPasses) {
  db_->Refuse(1'000'000);
  const Status status = Compact();
  EXPECT_NE(status.text().find("an unknown option"), std::string::npos) << status.text();
  EXPECT_LT(stuck_passes_, 100);
}

}  // namespace
}  // namespace cairn
