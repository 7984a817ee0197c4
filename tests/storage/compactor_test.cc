// SPDX-License-Identifier: BSD-3-Clause
//
// When the compactor starts a compaction again that did not end. tests/integration/test_compaction.py has the rest.
#include "storage/compactor.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "storage/compaction_pace.h"
#include "storage/store_fixture.h"

namespace cairn {
namespace {

class CompactorTest : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    Begin();
    const Key key(txn().databases().keyspace(0), "key");
    Lock(key);
    txn().Put(key.row(), "value");
    Finish();
    Commit();
    compactor().Start();
  }
  void TearDown() override {
    compactor().Stop();
    StoreFixture::TearDown();
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

}  // namespace
}  // namespace cairn
