// SPDX-License-Identifier: BSD-3-Clause
//
// The hash memtable must answer like RocksDB's skip list: two databases get the same writes, one with each.
#include "storage/hash_memtable.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace cairn {
namespace {

constexpr size_t kFewBuckets = 64;  // so that several keys share a bucket

class HashMemtable : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "cairn-test-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
    hashed_ = Open("hashed", true);
    listed_ = Open("listed", false);
  }
  void TearDown() override {
    hashed_.reset();
    listed_.reset();
    std::filesystem::remove_all(dir_);
  }

  std::unique_ptr<rocksdb::DB> Open(const std::string& name, bool hash) {
    rocksdb::Options options;
    options.create_if_missing = true;
    if (hash) options.memtable_factory = NewHashMemtableFactory(kFewBuckets);
    rocksdb::DB* db = nullptr;
    EXPECT_TRUE(rocksdb::DB::Open(options, dir_ / name, &db).ok());
    return std::unique_ptr<rocksdb::DB>(db);
  }

  void Apply(std::mt19937& random, int writes) {
    rocksdb::WriteBatch batch;
    for (int i = 0; i < writes; ++i) {
      const std::string key = RandomKey(random);
      if (random() % 4 == 0) {
        batch.Delete(key);
      } else {
        batch.Put(key, std::to_string(random()) + std::string(random() % 50, 'v'));
      }
    }
    ASSERT_TRUE(hashed_->Write({}, &batch).ok());
    ASSERT_TRUE(listed_->Write({}, &batch).ok());
  }

  // Short and long keys, with common prefixes and zero bytes, and the empty key.
  static std::string RandomKey(std::mt19937& random) {
    std::string key(random() % 3 * 4, 'p');
    key += std::to_string(random() % 500);
    if (random() % 5 == 0) key = std::string(random() % 4, '\0') + key.substr(0, random() % 3);
    return key;
  }

  void ExpectSame(std::mt19937& random, const rocksdb::Snapshot* hashed_then, const rocksdb::Snapshot* listed_then) {
    rocksdb::ReadOptions hashed_options;
    rocksdb::ReadOptions listed_options;
    hashed_options.snapshot = hashed_then;
    listed_options.snapshot = listed_then;
    for (int i = 0; i < 100; ++i) {
      const std::string key = RandomKey(random);
      std::string hashed_value;
      std::string listed_value;
      const rocksdb::Status hashed = hashed_->Get(hashed_options, key, &hashed_value);
      ASSERT_EQ(hashed.code(), listed_->Get(listed_options, key, &listed_value).code());
      ASSERT_EQ(hashed_value, listed_value);
    }
    const std::unique_ptr<rocksdb::Iterator> hashed(hashed_->NewIterator(hashed_options));
    const std::unique_ptr<rocksdb::Iterator> listed(listed_->NewIterator(listed_options));
    hashed->SeekToFirst();
    for (listed->SeekToFirst(); listed->Valid(); listed->Next(), hashed->Next()) ExpectSamePlace(*hashed, *listed);
    ASSERT_FALSE(hashed->Valid());
    for (int i = 0; i < 50; ++i) Wander(random, *hashed, *listed);
  }

  // Walks some steps in both directions from a random place.
  static void Wander(std::mt19937& random, rocksdb::Iterator& hashed, rocksdb::Iterator& listed) {
    const std::string key = RandomKey(random);
    const bool before = random() % 2 == 0;
    for (rocksdb::Iterator* walk : {&hashed, &listed}) before ? walk->SeekForPrev(key) : walk->Seek(key);
    for (int step = 0; step < 8 && listed.Valid(); ++step) {
      ExpectSamePlace(hashed, listed);
      const bool back = random() % 2 == 0;
      for (rocksdb::Iterator* walk : {&hashed, &listed}) back ? walk->Prev() : walk->Next();
    }
    ASSERT_EQ(hashed.Valid(), listed.Valid());
  }

  static void ExpectSamePlace(rocksdb::Iterator& hashed, rocksdb::Iterator& listed) {
    ASSERT_TRUE(hashed.Valid());
    ASSERT_EQ(hashed.key().ToString(), listed.key().ToString());
    ASSERT_EQ(hashed.value().ToString(), listed.value().ToString());
  }

  std::filesystem::path dir_;
  std::unique_ptr<rocksdb::DB> hashed_;
  std::unique_ptr<rocksdb::DB> listed_;
};

TEST_F(HashMemtable, AnswersLikeTheSkipList) {
  std::mt19937 random(1);
  for (int round = 0; round < 30; ++round) {
    Apply(random, static_cast<int>(random() % 400));
    ExpectSame(random, nullptr, nullptr);
    const rocksdb::Snapshot* const hashed_then = hashed_->GetSnapshot();
    const rocksdb::Snapshot* const listed_then = listed_->GetSnapshot();
    Apply(random, static_cast<int>(random() % 40));
    ExpectSame(random, hashed_then, listed_then);
    hashed_->ReleaseSnapshot(hashed_then);
    listed_->ReleaseSnapshot(listed_then);
  }
}

TEST_F(HashMemtable, AFlushWritesAllRows) {
  std::mt19937 random(2);
  for (int round = 0; round < 5; ++round) {
    Apply(random, 1000);
    ASSERT_TRUE(hashed_->Flush({}).ok());
    Apply(random, 100);
    ExpectSame(random, nullptr, nullptr);
  }
}

TEST_F(HashMemtable, IsRestoredFromTheLog) {
  std::mt19937 random(3);
  Apply(random, 2000);
  hashed_.reset();
  hashed_ = Open("hashed", true);
  ExpectSame(random, nullptr, nullptr);
}

TEST_F(HashMemtable, ReadersSeeConsistentStatesDuringWrites) {
  constexpr int kKeys = 100;
  constexpr int kRounds = 2000;
  const auto write = [this](int value) {
    rocksdb::WriteBatch batch;
    for (int key = 0; key < kKeys; ++key) batch.Put("key" + std::to_string(key), std::to_string(value));
    ASSERT_TRUE(hashed_->Write({}, &batch).ok());
  };
  write(0);
  std::atomic<bool> done = false;
  const auto read = [&] {
    while (!done) {
      const std::unique_ptr<rocksdb::Iterator> walk(hashed_->NewIterator({}));
      walk->SeekToFirst();
      const std::string value = walk->value().ToString();
      int count = 0;
      for (; walk->Valid(); walk->Next(), ++count) ASSERT_EQ(walk->value().ToString(), value);
      ASSERT_EQ(count, kKeys);
      std::string now;
      ASSERT_TRUE(hashed_->Get({}, "key50", &now).ok());
      ASSERT_GE(std::stoi(now), std::stoi(value));
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) readers.emplace_back(read);
  for (int round = 1; round <= kRounds; ++round) write(round);
  done = true;
  for (std::thread& reader : readers) reader.join();
}

TEST_F(HashMemtable, AcceptsSeveralWriters) {
  constexpr int kThreads = 4;
  constexpr int kWrites = 3000;
  std::vector<std::thread> writers;
  for (int thread = 0; thread < kThreads; ++thread) {
    writers.emplace_back([this, thread] {
      for (int i = 0; i < kWrites; ++i) {
        const std::string key = std::to_string(thread) + ":" + std::to_string(i % 700);
        ASSERT_TRUE(hashed_->Put({}, key, std::to_string(i)).ok());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int i = kWrites - 700; i < kWrites; ++i) {
      std::string value;
      ASSERT_TRUE(hashed_->Get({}, std::to_string(thread) + ":" + std::to_string(i % 700), &value).ok());
      ASSERT_EQ(value, std::to_string(i));
    }
  }
}

}  // namespace
}  // namespace cairn
