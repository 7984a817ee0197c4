// SPDX-License-Identifier: BSD-3-Clause
//
// When keys are evicted; tests/types/eviction_test.cc has which.
#include "server/evictor.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "client/client_pause.h"
#include "client/client_registry.h"
#include "client/notifier.h"
#include "command/conditions.h"
#include "config/config.h"
#include "storage/store_fixture.h"

namespace cairn {
namespace {

constexpr int kKeys = 200;

class EvictorTest : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    for (int i = 0; i < kKeys; ++i) {
      Begin();
      Keyspace keyspace(txn(), 0, config_.limits());
      const std::string name = "key:" + std::to_string(i);
      const Key key = keyspace.Name(name);
      Lock(key);
      const auto entry = keyspace.Find(key);
      ASSERT_TRUE(entry.ok());
      ASSERT_TRUE(keyspace.Write(key, *entry, {.type = Type::kString}, "value").ok());
      Finish();
      Commit();
    }
  }
  void SetPolicy(std::string_view policy) {
    const std::pair<std::string_view, std::string_view> pairs[] = {{"maxmemory-policy", policy}};
    ASSERT_TRUE(config_.SetAll(pairs, true).ok());
  }
  // Whether a call evicts keys.
  bool Evicts() {
    Evictor evictor(store(), config_, conditions_, notifier_, false);
    const int64_t keys = store().databases()[0].keys;
    const auto bytes = evictor.EvictSome(false);
    EXPECT_TRUE(bytes.ok());
    const bool evicts = store().databases()[0].keys < keys;
    EXPECT_EQ(bytes.ok() && *bytes > 0, evicts);
    return evicts;
  }

  Config config_;
  Conditions conditions_;
  ClientRegistry clients_;
  PubSub pubsub_;
  Tracking tracking_{clients_};
  WritableReplicaExpires expires_;
  const Notifier notifier_{pubsub_, tracking_, expires_};
};

// The policy may have become noeviction while a thread evicts.
TEST_F(EvictorTest, EvictsNothingUnderNoeviction) {
  SetPolicy("noeviction");
  EXPECT_FALSE(Evicts());
  SetPolicy("allkeys-random");
  EXPECT_TRUE(Evicts());
}

TEST_F(EvictorTest, EvictsNothingOnAReplica) {
  SetPolicy("allkeys-random");
  conditions_.Set(kKeepsExpired, true);
  EXPECT_FALSE(Evicts());
}

// The pause of the size limit waits for evictions.
TEST_F(EvictorTest, EvictsNothingDuringAPauseButThatOfTheSizeLimit) {
  using enum ClientPause::Purpose;
  SetPolicy("allkeys-random");
  ClientPause pause(conditions_, clients_);
  for (const auto purpose : {kCommand, kFailover, kShutdown}) {
    pause.Begin(purpose, ClientPause::Mode::kWrites, 0, 1000);
    EXPECT_FALSE(Evicts());
    pause.End(purpose);
  }
  pause.Begin(kSizeLimit, ClientPause::Mode::kWrites, 0, 1000);
  EXPECT_TRUE(Evicts());
}

}  // namespace
}  // namespace cairn
