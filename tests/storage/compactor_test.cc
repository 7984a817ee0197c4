// SPDX-License-Identifier: BSD-3-Clause
//
// When the compactor starts a compaction again that did not end, and which dead rows it knows of.
// tests/integration/test_compaction.py has the rest.
#include "storage/compactor.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "storage/compaction_pace.h"
#include "storage/store_fixture.h"

namespace cairn {
namespace {

class CompactorTest : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    AddKeys(0, 100);
    compactor().Start();
  }
  void TearDown() override {
    compactor().Stop();
    StoreFixture::TearDown();
  }

  void AddKeys(int db, int count) {
    for (int i = 0; i < count; ++i) {
      Begin();
      Keyspace keys(txn(), db, limits_);
      const std::string name = "key:" + std::to_string(i);
      const Key key = keys.Name(name);
      Lock(key);
      const auto entry = keys.Find(key);
      ASSERT_TRUE(entry.ok());
      ASSERT_TRUE(keys.Write(key, *entry, {.type = Type::kString}, "value").ok());
      Finish();
      Commit();
    }
  }
  void Flush(int db) {
    Begin();
    ASSERT_TRUE(txn().LockAll().ok());
    ASSERT_TRUE(txn().databases().Replace(db).ok());
    Finish();
    Commit();
  }

  Compactor& compactor() { return store().compactor(); }
  // While automatic compactions are urgent, a compaction does not go on.
  void SetUrgent(bool is_urgent) {
    store().engine().compaction_pace().Follow({.level0_files = is_urgent ? uint64_t{100} : uint64_t{0}});
  }
  bool HasEnded(CompactionReason reason) {
    const CompactionProgress progress = compactor().Progress();
    return progress.reason == reason && !progress.is_running && progress.result == "ok";
  }
  // False after 20 seconds.
  static bool Await(const std::function<bool()>& is_met) {
    using std::chrono_literals::operator""ms;
    for (int i = 0; i < 2000 && !is_met(); ++i) std::this_thread::sleep_for(10ms);
    return is_met();
  }

  const Limits limits_;
};

// Only a failure or COMPACT CANCEL holds compactions back: max-data-size needs them while keys are evicted.
TEST_F(CompactorTest, ACompactionThatWasEndedForCompactStartsAgainAtTheNextRequest) {
  SetUrgent(true);
  compactor().RequestForSizeLimit();
  ASSERT_TRUE(Await([this] { return compactor().runs_for_size_limit(); }));
  SetUrgent(false);
  ASSERT_TRUE(compactor().StartCompacting(ScopeOfAll()).ok());
  ASSERT_TRUE(Await([this] { return HasEnded(CompactionReason::kCommand); }));
  compactor().RequestForSizeLimit();
  EXPECT_TRUE(Await([this] { return HasEnded(CompactionReason::kSizeLimit); }));
}

// A full cache was rewritten again and again while a small database, or one without keys, was flushed every minute.
TEST_F(CompactorTest, OnlyFlushesOfManyKeysLeaveUnknownGarbage) {
  EXPECT_FALSE(compactor().has_unknown_garbage());
  Flush(1);
  EXPECT_FALSE(compactor().has_unknown_garbage());
  for (int i = 0; i < 5; ++i) {
    AddKeys(1, 1);
    Flush(1);
    EXPECT_FALSE(compactor().has_unknown_garbage()) << i;
  }
  AddKeys(1, 1);
  Flush(1);
  EXPECT_TRUE(compactor().has_unknown_garbage());
  ASSERT_TRUE(compactor().Compact(ScopeOfAll()).ok());
  EXPECT_FALSE(compactor().has_unknown_garbage());
  compactor().Stop();
  Reopen();
  EXPECT_TRUE(compactor().has_unknown_garbage());
}

// It drops no row of a flushed database then.
TEST_F(CompactorTest, ACompactionWhileASnapshotIsHeldForgetsNoFlush) {
  AddKeys(1, 10);
  Flush(1);
  store().lazy_free().Hold();
  EXPECT_FALSE(compactor().has_unknown_garbage()) << "none that a compaction may drop";
  ASSERT_TRUE(compactor().Compact(ScopeOfAll()).ok());
  store().lazy_free().Release();
  EXPECT_TRUE(compactor().has_unknown_garbage());
}

TEST_F(CompactorTest, ACompactionForgetsNoFlushIfASnapshotWasHeldForAPartOfIt) {
  AddKeys(1, 10);
  Flush(1);
  SetUrgent(true);
  ASSERT_TRUE(compactor().StartCompacting(ScopeOfAll()).ok());
  ASSERT_TRUE(Await([this] { return compactor().Progress().is_running; }));
  store().lazy_free().Hold();
  store().lazy_free().Release();
  SetUrgent(false);
  ASSERT_TRUE(Await([this] { return HasEnded(CompactionReason::kCommand); }));
  EXPECT_TRUE(compactor().has_unknown_garbage());
}

}  // namespace
}  // namespace cairn
