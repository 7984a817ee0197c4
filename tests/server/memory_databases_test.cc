// SPDX-License-Identifier: BSD-3-Clause
//
// When databases in memory are compacted. tests/integration/test_storage_modes.py has the rest.
#include "server/memory_databases.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/random.h"
#include "client/client_registry.h"
#include "client/notifier.h"
#include "command/conditions.h"
#include "config/config.h"
#include "storage/store_fixture.h"

namespace cairn {
namespace {

constexpr int kKeys = 100;
constexpr size_t kValueBytes = 40'000;
constexpr int64_t kMostPauseUs = 120'000'000;  // on a busy machine

class MemoryDatabasesTest : public StoreFixture {
 protected:
  void SetUp() override {
    SetModes({StorageMode::kMemory});
    StoreFixture::SetUp();
    for (int i = 0; i < kKeys; ++i) Write("key:" + std::to_string(i), kValueBytes);
    ASSERT_TRUE(store().engines().CompactMemory().ok());
    // They are above the limit, but not so far that Watch sets kFullMemory itself.
    const std::string limit = std::to_string(store().engines().MemoryBytes() / 100 * 97);
    const std::pair<std::string_view, std::string_view> pairs[] = {{"memory-databases-limit", limit}};
    ASSERT_TRUE(config_.SetAll(pairs, true).ok());
  }

  void Write(std::string_view name, size_t size) {
    std::string value(size, '\0');
    for (char& byte : value) byte = static_cast<char>(random_.Next());
    Begin();
    Keyspace keyspace(txn(), 0, config_.limits());
    const Key key = keyspace.Name(name);
    Lock(key);
    const auto entry = keyspace.Find(key);
    ASSERT_TRUE(entry.ok());
    ASSERT_TRUE(keyspace.Write(key, *entry, {.type = Type::kString}, value).ok());
    Finish();
    Commit();
  }

  // Writes a key and lets the thread work once. Returns whether it compacted.
  bool CompactsAfterAWrite(MemoryDatabases& databases) {
    Write("more", 10);
    conditions_.Set(kFullMemory, false);
    databases.Watch();
    using std::chrono_literals::operator""ms;
    for (int i = 0; i < 2000 && !conditions_.Has(kFullMemory); ++i) std::this_thread::sleep_for(10ms);
    EXPECT_TRUE(conditions_.Has(kFullMemory));
    return store().engines().memory()->Property(rocksdb::DB::Properties::kNumEntriesActiveMemTable) == 0;
  }

  Random random_{7};
  Config config_;
  Conditions conditions_;
  ClientRegistry clients_;
  PubSub pubsub_;
  Tracking tracking_{clients_};
  WritableReplicaExpires expires_;
  const Notifier notifier_{pubsub_, tracking_, expires_};
};

// Above the limit each write led to a compaction of everything, for the whole time of a BGSAVE. But without any,
// noeviction would refuse writes until its end.
TEST_F(MemoryDatabasesTest, AreCompactedForAPartOfTheTimeWhileASnapshotIsHeld) {
  MemoryDatabases databases(store(), config_, conditions_, notifier_);
  EXPECT_TRUE(CompactsAfterAWrite(databases));
  EXPECT_TRUE(CompactsAfterAWrite(databases));
  store().lazy_free().Hold();
  bool has_skipped = false;  // a pause that this thread spends waiting for a processor skips nothing
  for (int i = 0; i < 100 && !has_skipped; ++i) has_skipped = !CompactsAfterAWrite(databases);
  EXPECT_TRUE(has_skipped);
  bool has_compacted = false;  // the pause is a multiple of the last compaction's time, which may be long
  const int64_t end_us = MonotonicUs() + kMostPauseUs;
  while (!has_compacted && MonotonicUs() < end_us) has_compacted = CompactsAfterAWrite(databases);
  EXPECT_TRUE(has_compacted);
  store().lazy_free().Release();
  EXPECT_TRUE(CompactsAfterAWrite(databases));
  databases.Stop();
}

}  // namespace
}  // namespace cairn
