// SPDX-License-Identifier: BSD-3-Clause
#include "storage/compaction_retries.h"

#include <gtest/gtest.h>
#include <rocksdb/listener.h>

#include <vector>

namespace cairn {
namespace {

constexpr int64_t kSecondUs = 1000 * 1000;

rocksdb::CompactionJobInfo Job(const std::vector<uint64_t>& files, const rocksdb::Status& status = {}) {
  rocksdb::CompactionJobInfo job{};
  job.status = status;
  for (const uint64_t file : files) job.input_file_infos.push_back({.file_number = file});
  return job;
}

TEST(CompactionRetriesTest, EachFailureDoublesTheDelayUpToAMinute) {
  CompactionRetries retries;
  for (const int64_t seconds : {0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60}) {
    EXPECT_EQ(retries.DelayUs(Job({7, 9})), seconds * kSecondUs);
    retries.NoteEnd(Job({7, 9}, rocksdb::Status::IOError("bad block")));
  }
}

TEST(CompactionRetriesTest, OnlyCompactionsOfTheSameFilesWait) {
  CompactionRetries retries;
  for (int i = 0; i < 3; ++i) retries.NoteEnd(Job({7, 9}, rocksdb::Status::IOError("bad block")));
  EXPECT_EQ(retries.DelayUs(Job({8})), 0);
  EXPECT_EQ(retries.DelayUs(Job({8, 9})), 2 * kSecondUs);
  retries.NoteEnd(Job({8, 9}));
  EXPECT_EQ(retries.DelayUs(Job({9})), 0);
  EXPECT_EQ(retries.DelayUs(Job({7})), 2 * kSecondUs);
}

TEST(CompactionRetriesTest, ManualOnesAndThoseOfAFullDiskDoNotWait) {
  CompactionRetries retries;
  for (int i = 0; i < 3; ++i) retries.NoteEnd(Job({7}, rocksdb::Status::NoSpace("full")));
  EXPECT_EQ(retries.DelayUs(Job({7})), 0);
  for (int i = 0; i < 3; ++i) retries.NoteEnd(Job({7}, rocksdb::Status::IOError("bad block")));
  rocksdb::CompactionJobInfo manual = Job({7});
  manual.compaction_reason = rocksdb::CompactionReason::kManualCompaction;
  EXPECT_EQ(retries.DelayUs(manual), 0);
}

}  // namespace
}  // namespace cairn
