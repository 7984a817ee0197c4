// SPDX-License-Identifier: BSD-3-Clause
#include "types/eviction.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "encoding/record.h"
#include "storage/store.h"
#include "types/events.h"
#include "types/keyspace.h"

namespace cairn {
namespace {

// What an element of a spread collection takes, about.
constexpr uint64_t kElementBytes = 64;

struct Candidate {
  std::string key;
  double rank = 0;  // the candidate with the highest is evicted
};

// The rank of a key under the policy.
double RankOf(Transaction& txn, const Key& key, const KeyEntry& entry, EvictionOrder order) {
  const int64_t now_s = txn.command().now_s();
  if (order == EvictionOrder::kTtl) return -static_cast<double>(entry.expire_ms());
  if (order == EvictionOrder::kLfu) return -static_cast<double>(txn.uses().Frequency(key.row(), now_s).value_or(0));
  return static_cast<double>(txn.uses().IdleSeconds(key.row(), now_s));
}

// The best of some random keys; none if no sample suits.
Result<std::optional<Candidate>> Choose(Keyspace& keyspace, const EvictionPolicy& policy, Random& random) {
  std::optional<Candidate> best;
  const int samples = policy.order == EvictionOrder::kRandom && !policy.only_expiring ? 1 : policy.samples;
  for (int i = 0; i < samples; ++i) {
    std::optional<std::string> name = TRY(keyspace.RandomKey(random));
    if (!name) return best;
    const Key key = keyspace.Name(*name);
    const KeyEntry entry = TRY(keyspace.Find(key, Access::kPeek));
    if (!entry.exists() || (policy.only_expiring && entry.expire_ms() == kNoExpiry)) continue;
    const double rank = RankOf(keyspace.txn(), key, entry, policy.order);
    if (!best || rank > best->rank) best = Candidate{std::move(*name), rank};
    if (policy.order == EvictionOrder::kRandom) break;
  }
  return best;
}

Result<std::vector<std::string>> ChooseAll(Transaction& txn, int db, const Limits& limits, const EvictionPolicy& policy,
                                           Random& random, int most) {
  txn.BeginCommand(Lane::kSlow, WallMs(), false);
  Keyspace keyspace(txn, db, limits);
  std::vector<std::string> keys;
  for (int i = 0; i < most; ++i) {
    auto chosen = TRY(Choose(keyspace, policy, random));
    if (chosen) keys.push_back(std::move(chosen->key));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

Result<uint64_t> BytesOf(const Key& key, const KeyEntry& entry) {
  const uint64_t bytes = key.row().row().size() + entry.payload().size();
  if (entry.encoding() != Encoding::kSpread) return bytes;
  return bytes + TRY(DecodeSpreadPayload(entry.payload())).count * kElementBytes;
}

// Deletes the keys that still exist.
Result<uint64_t> Delete(Transaction& txn, int db, const Limits& limits, const std::vector<std::string>& keys) {
  txn.BeginCommand(Lane::kSlow, WallMs(), false);
  txn.replicated_commands().SetApart();
  std::vector<uint32_t> stripes;
  for (const std::string& key : keys) stripes.push_back(StripeOf(key));
  TRY(txn.Lock(stripes));
  Keyspace keyspace(txn, db, limits);
  uint64_t bytes = 0;
  uint64_t evicted = 0;
  for (const std::string& name : keys) {
    const Key key = keyspace.Name(name);
    const KeyEntry entry = TRY(keyspace.Find(key, Access::kPeek));
    if (!entry.exists()) continue;
    bytes += TRY(BytesOf(key, entry));
    TRY(keyspace.Remove(key, entry));
    ++evicted;
    if (WantsEvent(txn, kEvictedEvent)) EmitEvent(txn, db, "evicted", name);
    const InterestMask interest = txn.replicated_commands().interest();
    if (interest & kInterestInKeys) txn.notifications().Add({NotificationKind::kKeyChanged, name, {}});
    const std::string_view del[] = {"DEL", name};
    if (interest & kInterestInReplication) txn.replicated_commands().Add(db, del);
  }
  TRY(txn.FinishCommand());
  TRY(txn.Commit(CommitMode::kWait));
  txn.store().counters().evicted_keys.Add(evicted);
  return bytes;
}

}  // namespace

EvictionPolicy EvictionPolicy::Named(std::string_view name, int samples) {
  EvictionPolicy policy{.samples = samples};
  policy.only_expiring = name.starts_with("volatile-");
  if (name.ends_with("-lru")) policy.order = EvictionOrder::kLru;
  if (name.ends_with("-lfu")) policy.order = EvictionOrder::kLfu;
  if (name.ends_with("-random")) policy.order = EvictionOrder::kRandom;
  if (name.ends_with("-ttl")) policy.order = EvictionOrder::kTtl;
  return policy;
}

Result<uint64_t> EvictKeys(Transaction& txn, int db, const Limits& limits, const EvictionPolicy& policy, Random& random,
                           int most) {
  auto chosen = ChooseAll(txn, db, limits, policy, random, most);
  txn.AbandonCommand();
  txn.Discard();
  const std::vector<std::string> keys = TRY(std::move(chosen));
  if (keys.empty()) return uint64_t{0};
  Result<uint64_t> bytes = Delete(txn, db, limits, keys);
  if (!bytes.ok()) {
    txn.AbandonCommand();
    txn.Discard();
  }
  return bytes;
}

}  // namespace cairn
