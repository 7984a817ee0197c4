// SPDX-License-Identifier: BSD-3-Clause
//
// The database inside a program. tests/integration/test_embedded.py builds a program against the installed library.
#include "embedded/database.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "stats/process_memory.h"
#include "storage/format.h"
#include "storage/store.h"
#include "types/hash.h"

namespace cairn {
namespace {

using namespace std::chrono_literals;
using ErrorCode = EmbeddedError::Code;

class EmbeddedDatabaseTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "cairn-test-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    options_.directory = pattern;
    options_.memory_bytes = 32 << 20;
    Open();
  }
  void TearDown() override {
    database_.reset();
    std::filesystem::remove_all(options_.directory);
  }

  void Open() {
    const EmbeddedError error = EmbeddedDatabase::Open(options_, database_);
    ASSERT_FALSE(error) << error.text;
  }
  void Put(std::string_view key, std::string_view value, std::chrono::milliseconds ttl = EmbeddedDatabase::kForever) {
    const EmbeddedError error = database_->Put(key, value, ttl);
    EXPECT_FALSE(error) << error.text;
  }
  // The value, or "(none)".
  std::string Get(std::string_view key) {
    std::string value;
    const EmbeddedError error = database_->Get(key, value);
    if (error.code == ErrorCode::kNotFound) return "(none)";
    EXPECT_FALSE(error) << error.text;
    return value;
  }
  std::map<std::string, std::string> All() {
    std::map<std::string, std::string> all;
    const EmbeddedError error = database_->ForEach(
        [&](std::string_view key, std::string_view value) { return all.emplace(key, value).second; });
    EXPECT_FALSE(error) << error.text;
    return all;
  }
  // Opens the closed database as a server would.
  std::unique_ptr<Store> OpenAsServer() {
    StoreOptions options;
    options.dir = options_.directory;
    options.budget = Budget::Of(64 << 20);
    auto store = Store::Open(options);
    EXPECT_TRUE(store.ok()) << store.status().text();
    return std::move(*store);
  }
  void WriteAsServer(std::string_view name, const std::function<Status(Keyspace&, const Key&)>& command) {
    const std::unique_ptr<Store> store = OpenAsServer();
    Transaction txn(*store, 0);
    txn.BeginCommand(Lane::kSlow, 1, false);
    const Limits limits;
    Keyspace keys(txn, 0, limits);
    const Key key = keys.Name(name);
    const uint32_t stripe = key.stripe();
    ASSERT_TRUE(txn.Lock({&stripe, 1}).ok());
    ASSERT_TRUE(command(keys, key).ok());
    ASSERT_TRUE(txn.FinishCommand().ok());
    ASSERT_TRUE(txn.Commit(CommitMode::kWait).ok());
  }

  EmbeddedOptions options_;
  std::unique_ptr<EmbeddedDatabase> database_;
};

TEST_F(EmbeddedDatabaseTest, StoresReplacesAndDeletes) {
  EXPECT_EQ(Get("k"), "(none)");
  Put("k", "one");
  Put("k", "two");
  Put("number", "-17");
  Put("", "");
  EXPECT_EQ(Get("k"), "two");
  EXPECT_EQ(Get("number"), "-17");
  EXPECT_EQ(Get(""), "");
  EXPECT_EQ(database_->Count(), 3u);
  EXPECT_FALSE(database_->Delete("k"));
  EXPECT_EQ(database_->Delete("k").code, ErrorCode::kNotFound);
  EXPECT_EQ(database_->Count(), 2u);
}

// What Put returned is there after a close, and after an end without one, which replays the log.
TEST_F(EmbeddedDatabaseTest, SurvivesAReopen) {
  std::map<std::string, std::string> model;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1000; ++i) {
      const std::string key = std::to_string(i * (round + 1));
      model[key] = std::string(static_cast<size_t>(i % 300), static_cast<char>('a' + round));
      Put(key, model[key]);
    }
    EXPECT_FALSE(database_->Sync());
    if (round == 1) {
      EXPECT_FALSE(database_->Close());
    }
    database_.reset();
    Open();
    EXPECT_EQ(All(), model);
    EXPECT_EQ(database_->Count(), model.size());
  }
}

// Expired keys are invisible at once, and deleted in the background.
TEST_F(EmbeddedDatabaseTest, KeysExpire) {
  Put("short", "1", 30ms);
  Put("long", "2", 1h);
  Put("kept", "3", 30ms);
  Put("kept", "4");
  EXPECT_EQ(Get("short"), "1");
  std::this_thread::sleep_for(40ms);
  EXPECT_EQ(Get("short"), "(none)");
  EXPECT_EQ(database_->Delete("short").code, ErrorCode::kNotFound);
  EXPECT_EQ(All(), (std::map<std::string, std::string>{{"long", "2"}, {"kept", "4"}}));
  Put("other", "5", 1ms);
  for (int i = 0; i < 1000 && database_->Count() != 2; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(database_->Count(), 2u);
}

// A visitor may use the database; what it writes does not change the walk.
TEST_F(EmbeddedDatabaseTest, AWalkSeesTheStateAtItsStart) {
  for (int i = 0; i < 2000; ++i) Put(std::to_string(i), "old");
  int visited = 0;
  const EmbeddedError error = database_->ForEach([&](std::string_view key, std::string_view value) {
    EXPECT_EQ(value, "old");
    Put(key, "new");
    Put("new:" + std::string(key), "old");
    ++visited;
    return true;
  });
  EXPECT_FALSE(error) << error.text;
  EXPECT_EQ(visited, 2000);
  EXPECT_EQ(database_->Count(), 4000u);
  visited = 0;
  EXPECT_FALSE(database_->ForEach([&](std::string_view, std::string_view) { return ++visited < 10; }));
  EXPECT_EQ(visited, 10);
}

// A walk reads some values ahead of the visitor. Their number alone does not limit them if they are large.
TEST_F(EmbeddedDatabaseTest, AWalkReadsFewLargeValuesAhead) {
  constexpr int kValues = 40;
  for (int i = 0; i < kValues; ++i) Put(std::to_string(i), std::string(1 << 20, 'x'));
  const uint64_t before = ProcessMemory::Read().allocated;
  uint64_t most = 0;
  int visited = 0;
  EXPECT_FALSE(database_->ForEach([&](std::string_view, std::string_view) {
    if (visited++ == 0) most = ProcessMemory::Read().allocated;
    return true;
  }));
  EXPECT_EQ(visited, kValues);
  EXPECT_LT(most, before + (20 << 20));
}

TEST_F(EmbeddedDatabaseTest, ThreadsShareIt) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 2000; ++i) {
        Put("shared:" + std::to_string(i % 10), std::to_string(t));
        Put(std::to_string(t) + ":" + std::to_string(i), std::to_string(i));
        EXPECT_EQ(Get(std::to_string(t) + ":" + std::to_string(i)), std::to_string(i));
        EXPECT_NE(Get("shared:" + std::to_string(i % 10)), "(none)");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(database_->Count(), 4u * 2000 + 10);
}

TEST_F(EmbeddedDatabaseTest, RefusesInvalidArguments) {
  EXPECT_EQ(database_->Put("k", "v", -1ms).code, ErrorCode::kInvalid);
  EXPECT_EQ(database_->Put("k", "v", std::chrono::milliseconds::max()).code, ErrorCode::kInvalid);
  EXPECT_FALSE(database_->Close());
  std::string value;
  EXPECT_EQ(database_->Get("k", value).code, ErrorCode::kInvalid);
  EXPECT_EQ(database_->Put("k", "v").code, ErrorCode::kInvalid);
  EXPECT_FALSE(database_->Close());
  options_.memory_bytes = 1 << 20;
  EXPECT_EQ(EmbeddedDatabase::Open(options_, database_).code, ErrorCode::kInvalid);
}

// RocksDB allows one process, and one object, at a time.
TEST_F(EmbeddedDatabaseTest, RefusesASecondOpen) {
  std::unique_ptr<EmbeddedDatabase> second;
  EXPECT_EQ(EmbeddedDatabase::Open(options_, second).code, ErrorCode::kIo);
  EXPECT_EQ(second, nullptr);
}

TEST_F(EmbeddedDatabaseTest, AValueOfAnotherTypeIsAnError) {
  database_.reset();
  WriteAsServer("h", [](Keyspace& keys, const Key& key) -> Status {
    Hash hash(keys, key);
    TRY(hash.Open());
    TRY(hash.Set("f", "v"));
    return hash.Save();
  });
  Open();
  std::string value;
  EXPECT_EQ(database_->Get("h", value).code, ErrorCode::kWrongType);
  EXPECT_TRUE(All().empty());
  Put("h", "text");
  EXPECT_EQ(Get("h"), "text");
}

// Damaged bytes are an error of their key only.
TEST_F(EmbeddedDatabaseTest, DamageIsAnError) {
  Put("good", "1");
  database_.reset();
  WriteAsServer("bad", [](Keyspace& keys, const Key& key) -> Status {
    keys.txn().Put(key.row(), "\xff\xff");
    return Ok();
  });
  Open();
  std::string value;
  EXPECT_EQ(database_->Get("bad", value).code, ErrorCode::kCorruption);
  EXPECT_EQ(Get("good"), "1");
}

// A server that continued the stream would send replicas the changes after this program's, and not these.
TEST_F(EmbeddedDatabaseTest, EndsTheReplicationStream) {
  database_.reset();
  WriteAsServer("k", [](Keyspace& keys, const Key&) -> Status {
    keys.txn().on_commit().PutNote(kHistoryRow, "a stream");
    return Ok();
  });
  Open();
  database_.reset();
  const Result<std::string> history = OpenAsServer()->ReadNote(kHistoryRow);
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(*history, "");
}

TEST_F(EmbeddedDatabaseTest, WritesCanBeDurable) {
  database_.reset();
  options_.durability = Durability::kAlways;
  Open();
  Put("k", "v");
  EXPECT_EQ(Get("k"), "v");
}

// A third of the values is never overwritten, so no blob file can be deleted unless its values are moved.
TEST_F(EmbeddedDatabaseTest, CollectsTheGarbageOfLargeValues) {
  constexpr int kValues = 300;
  constexpr size_t kBytes = 100'000;
  Random random(1);
  const auto put = [&](int i) {
    std::string value(kBytes, '\0');
    for (size_t at = 0; at < kBytes; at += sizeof(uint64_t)) {
      const uint64_t bits = random.Next();
      std::memcpy(value.data() + at, &bits, sizeof bits);
    }
    Put("value:" + std::to_string(i), value);
  };
  const auto blob_bytes = [this] {
    uint64_t sum = 0;
    for (const auto& entry : std::filesystem::directory_iterator(options_.directory)) {
      std::error_code gone;
      const uint64_t size = entry.path().extension() == ".blob" ? entry.file_size(gone) : 0;
      sum += gone ? 0 : size;
    }
    return sum;
  };
  for (int i = 0; i < kValues; ++i) put(i);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < kValues; ++i) {
      if (i % 3 != 0) put(i);
    }
  }
  // 110 MB were written. The garbage of the last flushes is not known before a compaction meets their tables.
  constexpr uint64_t kMost = kValues * kBytes * 5 / 2;
  for (int i = 0; i < 300 && blob_bytes() > kMost; ++i) std::this_thread::sleep_for(100ms);
  EXPECT_LE(blob_bytes(), kMost);
  EXPECT_EQ(database_->Count(), uint64_t{kValues});
}

}  // namespace
}  // namespace cairn
