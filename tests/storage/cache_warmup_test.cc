// SPDX-License-Identifier: BSD-3-Clause
#include "storage/cache_warmup.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "storage/overlay.h"
#include "storage/store_fixture.h"

namespace cairn {
namespace {

constexpr int kKeys = 2000;
constexpr CollectionId kCollection = 7;

class CacheWarmupTest : public StoreFixture {
 protected:
  static std::string NameOf(int i) { return "key:" + std::to_string(i); }
  Key KeyOf(int i) { return Key(txn().databases().keyspace(0), names_[static_cast<size_t>(i)] = NameOf(i)); }

  void Write(int i, std::string_view value) {
    Begin();
    const Key key = KeyOf(i);
    Lock(key);
    txn().Put(key.row(), value);
    Finish();
    Commit();
  }
  void WriteAll() {
    for (int i = 0; i < kKeys; ++i) Write(i, "value:" + std::to_string(i));
  }
  // What the cache has for a row; "" if nothing.
  std::string Cached(const RowKey& row) {
    const RowRef found = store().cache().Lookup(row.tagged(), Overlay::HashOf(row.tagged()), false, 1);
    return found ? std::string(found.bytes()) : "";
  }
  int CountCached() {
    int count = 0;
    for (int i = 0; i < kKeys; ++i) count += Cached(KeyOf(i).row()) == "value:" + std::to_string(i) ? 1 : 0;
    return count;
  }
  // Saves the names, restarts, and runs a warm-up to its end.
  void Restart() {
    Save();
    Reopen();
    WarmUp();
  }
  void Save() {
    CacheWarmup warmup(store());
    store().cache().Lookup("x", Overlay::HashOf("x"), true, 1);  // nothing is saved of a cache that is not used
    warmup.Start();
    AwaitEnd(warmup);
    warmup.Stop(true);
    EXPECT_GT(warmup.progress().saved, 0u);
  }
  void WarmUp() {
    CacheWarmup warmup(store());
    warmup.Start();
    AwaitEnd(warmup);
    progress_ = warmup.progress();
    warmup.Stop(false);
  }
  static void AwaitEnd(const CacheWarmup& warmup) {
    using enum CacheWarmup::State;
    for (auto state = kStarting; state == kStarting || state == kLoading; state = warmup.progress().state) {
      std::this_thread::yield();
    }
  }

  CacheWarmup::Progress progress_;

 private:
  std::vector<std::string> names_ = std::vector<std::string>(kKeys);
};

TEST_F(CacheWarmupTest, BringsBackTheRowsAfterARestart) {
  WriteAll();
  Restart();
  EXPECT_EQ(progress_.state, CacheWarmup::State::kDone);
  EXPECT_EQ(progress_.rows, static_cast<uint64_t>(kKeys));
  EXPECT_EQ(CountCached(), kKeys);
}

// A name is only a hint: the row may have been deleted or changed since it was saved.
TEST_F(CacheWarmupTest, ReadsTheLatestValueAndNoDeletedRow) {
  WriteAll();
  Save();
  Write(5, "new");
  Begin();
  const Key key = KeyOf(6);
  Lock(key);
  txn().Delete(key.row());
  Finish();
  Commit();
  Reopen();
  WarmUp();
  EXPECT_EQ(Cached(KeyOf(5).row()), "new");
  EXPECT_EQ(Cached(KeyOf(6).row()), "");
}

TEST_F(CacheWarmupTest, LeavesRowsOfDroppedKeyspacesAlone) {
  WriteAll();
  Save();
  Begin();
  ASSERT_TRUE(txn().LockAll().ok());
  ASSERT_TRUE(txn().databases().Replace(0).ok());
  Finish();
  Commit();
  Reopen();
  WarmUp();
  EXPECT_EQ(progress_.rows, 0u);
}

TEST_F(CacheWarmupTest, ReadsElementsOfCollectionsThatHaveAnOwner) {
  Begin();
  const Key key = KeyOf(0);
  Lock(key);
  txn().Put(key.row(), "owner");
  txn().Put(MakeOwnerRow(kCollection, key.stripe()), key.row().row());
  const RowKey element = MakeElementRow(kCollection, "member", key.stripe());
  const RowKey orphan = MakeElementRow(kCollection + 1, "member", key.stripe());
  txn().Put(element, "value");
  txn().Put(orphan, "value");
  Finish();
  Commit();
  Restart();
  EXPECT_EQ(Cached(element), "value");
  EXPECT_EQ(Cached(orphan), "");
}

// Whatever a warm-up does while others write, a reader gets the value that was committed last.
TEST_F(CacheWarmupTest, NeverReplacesACommittedValueByAnOlderOne) {
  WriteAll();
  Save();
  for (int round = 0; round < 10; ++round) {
    Reopen();
    std::atomic<bool> done{false};
    std::thread warmer([&] {
      while (!done) WarmUp();
    });
    for (int i = 0; i < kKeys; ++i) Write(i, NameOf(i + round));
    done = true;
    warmer.join();
    for (int i = 0; i < kKeys; ++i) {
      const std::string cached = Cached(KeyOf(i).row());
      ASSERT_TRUE(cached.empty() || cached == NameOf(i + round)) << i << " " << cached;
    }
  }
}

TEST_F(CacheWarmupTest, DoesNothingWhenItIsOff) {
  WriteAll();
  Save();
  Reopen();
  CacheWarmup warmup(store());
  warmup.Enable(false);
  warmup.Start();
  AwaitEnd(warmup);
  EXPECT_EQ(warmup.progress().state, CacheWarmup::State::kOff);
  EXPECT_EQ(CountCached(), 0);
}

}  // namespace
}  // namespace cairn
