// SPDX-License-Identifier: BSD-3-Clause
//
// What each maxmemory-policy deletes.
#include "types/eviction.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "storage/store_fixture.h"
#include "types/hash.h"

namespace cairn {
namespace {

constexpr int kKeys = 200;
constexpr int64_t kFarMs = 4'000'000'000'000;
constexpr auto kMayEvict = [] { return true; };

class EvictionTest : public StoreFixture {
 protected:
  // Keys key:0 to key:199, or fewer; the odd ones expire, the later the higher their number.
  void Fill(int count = kKeys) {
    for (int i = 0; i < count; ++i) {
      Begin();
      Keyspace keys(txn(), 0, limits_);
      const std::string name = "key:" + std::to_string(i);
      const Key key = keys.Name(name);
      Lock(key);
      const auto entry = keys.Find(key);
      ASSERT_TRUE(entry.ok());
      RecordHeader header;
      header.type = Type::kString;
      if (i % 2 == 1) header.expire_ms = kFarMs + i;
      ASSERT_TRUE(keys.Write(key, *entry, header, "value").ok());
      Finish();
      Commit();
    }
  }

  // A hash whose first field expires.
  void AddHash(std::string_view name, int64_t field_expires_ms, int fields = 1) {
    Begin();
    Keyspace keys(txn(), 0, limits_);
    const Key key = keys.Name(name);
    Lock(key);
    Hash hash(keys, key);
    ASSERT_TRUE(hash.Open().ok());
    const std::string value(50, 'v');
    std::vector<std::string> names;
    for (int i = 0; i < fields; ++i) names.push_back("field" + std::to_string(i));
    for (const std::string& field : names) ASSERT_TRUE(hash.Set(field, value).ok());
    if (field_expires_ms != kNoExpiry) {
      ASSERT_TRUE(hash.SetDeadline("field0", field_expires_ms).ok());
    }
    ASSERT_TRUE(hash.Save().ok());
    Finish();
    Commit();
  }

  // The numbers of the keys that a policy with many samples deletes.
  std::set<int> Evict(std::string_view policy, int most) {
    const auto bytes = EvictKeys(txn(), 0, limits_, EvictionPolicy::Named(policy, 64), random_, most, kMayEvict);
    EXPECT_TRUE(bytes.ok());
    std::set<int> evicted;
    Begin();
    Keyspace keys(txn(), 0, limits_);
    for (int i = 0; i < kKeys; ++i) {
      const auto entry = keys.Find(keys.Name("key:" + std::to_string(i)), Access::kPeek);
      EXPECT_TRUE(entry.ok());
      if (!entry->exists()) evicted.insert(i);
    }
    EXPECT_EQ(bytes.ok() && *bytes > 0, !evicted.empty());
    EXPECT_EQ(store().databases()[0].keys, kKeys - static_cast<int>(evicted.size()));
    return evicted;
  }

  const Limits limits_;
  Random random_{7};
};

TEST_F(EvictionTest, NoevictionHasNoOrder) {
  EXPECT_FALSE(EvictionPolicy::Named("noeviction", 5).evicts());
  EXPECT_TRUE(EvictionPolicy::Named("volatile-lfu", 5).evicts());
  EXPECT_TRUE(EvictionPolicy::Named("volatile-lfu", 5).only_expiring);
  EXPECT_FALSE(EvictionPolicy::Named("allkeys-random", 5).only_expiring);
}

TEST_F(EvictionTest, AllkeysRandomDeletesAnyKeys) {
  Fill();
  const std::set<int> evicted = Evict("allkeys-random", 50);
  EXPECT_GT(evicted.size(), 30u);  // a key may be drawn twice
  EXPECT_LE(evicted.size(), 50u);
}

TEST_F(EvictionTest, VolatilePoliciesDeleteOnlyKeysThatExpire) {
  Fill();
  for (const int number : Evict("volatile-random", 40)) EXPECT_EQ(number % 2, 1) << number;
}

// Its fields have an expiry row too.
TEST_F(EvictionTest, AHashWhoseFieldsExpireIsNotVolatile) {
  AddHash("hash", kFarMs);
  const auto bytes = EvictKeys(txn(), 0, limits_, EvictionPolicy::Named("volatile-ttl", 5), random_, 10, kMayEvict);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes, 0u);
  EXPECT_EQ(store().databases()[0].keys, 1);
}

// If expiring fields counted as candidates, eviction would find no key to delete, and writes would be refused.
TEST_F(EvictionTest, HashesWhoseFieldsExpireSoonerDoNotKeepVolatileKeysFromEviction) {
  for (int i = 0; i < 10; ++i) AddHash("hash:" + std::to_string(i), kFarMs - 10 + i);
  Fill(2);
  const auto bytes = EvictKeys(txn(), 0, limits_, EvictionPolicy::Named("volatile-ttl", 5), random_, 5, kMayEvict);
  ASSERT_TRUE(bytes.ok());
  EXPECT_GT(*bytes, 0u);
  EXPECT_EQ(store().counters().evicted_keys.load(), 1u);
  EXPECT_EQ(store().databases()[0].keys, 11);
}

// A spread value has the same kind of expiry row as the fields of a hash.
TEST_F(EvictionTest, ASpreadHashThatExpiresIsVolatile) {
  AddHash("hash", kNoExpiry, 1000);
  for (int i = 0; i < kKeys; ++i) AddHash("other:" + std::to_string(i), kNoExpiry);
  Begin();
  Keyspace keys(txn(), 0, limits_);
  const Key key = keys.Name("hash");
  Lock(key);
  const auto entry = keys.Find(key);
  ASSERT_TRUE(entry.ok());
  ASSERT_EQ(entry->encoding(), Encoding::kSpread);
  ASSERT_TRUE(keys.SetExpiry(key, *entry, kFarMs).ok());
  Finish();
  Commit();
  const auto bytes = EvictKeys(txn(), 0, limits_, EvictionPolicy::Named("volatile-ttl", 1), random_, 1, kMayEvict);
  ASSERT_TRUE(bytes.ok());
  EXPECT_GT(*bytes, 0u);
  EXPECT_EQ(store().databases()[0].keys, kKeys);
}

TEST_F(EvictionTest, VolatileTtlPrefersKeysThatExpireSoon) {
  Fill();
  double sum = 0;
  const std::set<int> evicted = Evict("volatile-ttl", 30);
  for (const int number : evicted) sum += number;
  EXPECT_LT(sum / static_cast<double>(evicted.size()), kKeys / 4.0);
  EXPECT_EQ(store().counters().evicted_keys.load(), evicted.size());
}

// The server may become a replica while an eviction waits for its keys.
TEST_F(EvictionTest, DeletesNothingIfItMayNotEvictWhenTheKeysAreLocked) {
  Fill();
  int calls = 0;
  const auto may_evict = [&] { return ++calls == 0; };
  const auto bytes = EvictKeys(txn(), 0, limits_, EvictionPolicy::Named("allkeys-random", 5), random_, 50, may_evict);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes, 0u);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(store().databases()[0].keys, kKeys);
  EXPECT_FALSE(Evict("allkeys-random", 50).empty());  // the keys are not locked any more
}

TEST_F(EvictionTest, NothingToEvictIsNoBytes) {
  const auto none = EvictKeys(txn(), 0, limits_, EvictionPolicy::Named("allkeys-lru", 5), random_, 10, kMayEvict);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(*none, 0u);
}

}  // namespace
}  // namespace cairn
