// SPDX-License-Identifier: BSD-3-Clause
#include "types/eviction.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "encoding/record.h"
#include "storage/store.h"
#include "storage/stripes.h"
#include "types/events.h"
#include "types/keyspace.h"

namespace cairn {
namespace {

// What an element of a spread collection takes, about, and what a key row has beside the key.
constexpr uint64_t kElementBytes = 64;
constexpr uint64_t kKeyRowHeadBytes = 10;

// For one sample that has an expiry at most so many keys are visited.
constexpr size_t kMostVisits = 20;

struct Candidate {
  std::string name;
  double rank = 0;  // the highest are evicted
  KeyEntry entry;   // without its payload
  uint64_t bytes = 0;
  bool is_read = false;  // otherwise only the name and the rank are known
};

// The versions of all stripes at a time. What was read afterwards is still true while its stripe has the same version.
class StripeVersions {
 public:
  explicit StripeVersions(const Stripes& stripes) : stripes_(stripes), versions_(kStripeCount) {
    for (uint32_t i = 0; i < kStripeCount; ++i) versions_[i] = stripes.Version(i);
  }
  bool Hold(uint32_t stripe) const {
    return !Stripes::IsCommitting(versions_[stripe]) && stripes_.Version(stripe) == versions_[stripe];
  }

 private:
  const Stripes& stripes_;
  std::vector<uint64_t> versions_;
};

Result<uint64_t> BytesOf(std::string_view key, const Record& record) {
  const uint64_t bytes = kKeyRowHeadBytes + key.size() + record.payload.size();
  if (record.header.encoding != Encoding::kSpread) return bytes;
  return bytes + TRY(DecodeSpreadPayload(record.payload)).count * kElementBytes;
}

// The rank of a key under the policy.
double RankOf(Transaction& txn, const Key& key, int64_t expire_ms, EvictionOrder order) {
  const int64_t now_s = txn.command().now_s();
  if (order == EvictionOrder::kTtl) return -static_cast<double>(expire_ms);
  if (order == EvictionOrder::kLfu) return -static_cast<double>(txn.uses().Frequency(key.row(), now_s).value_or(0));
  return static_cast<double>(txn.uses().IdleSeconds(key.row(), now_s));
}

// Adds keys from a random position on.
Status AddSamples(Keyspace& keyspace, const EvictionPolicy& policy, Random& random, size_t most,
                  std::vector<Candidate>& found) {
  Status status;
  size_t visited = 0;
  const auto add = [&](std::string_view name, const Record& record) {
    const bool suits = !policy.only_expiring || record.header.expire_ms != kNoExpiry;
    const auto sample = [&]() -> Status {
      const double rank = RankOf(keyspace.txn(), keyspace.Name(name), record.header.expire_ms, policy.order);
      found.push_back({std::string(name), rank, TRY(Keyspace::EntryOf(record)), TRY(BytesOf(name, record)), true});
      return Ok();
    };
    if (suits && status.ok()) status = sample();
    return status.ok() && found.size() < most && ++visited < most * kMostVisits;
  };
  const uint64_t end = TRY(keyspace.Scan(random.Below(uint64_t{1} << kPositionBits), add));
  if (status.ok() && end == 0) TRY(keyspace.Scan(0, add));
  return status;
}

// Whether the key expires at this time. It is scanned for: a change of a key that was read without a lock would refuse
// the commit.
Result<bool> ExpiresAt(Keyspace& keyspace, std::string_view name, int64_t when_ms) {
  bool expires = false;
  const auto look = [&](std::string_view found, const Record& record) {
    expires = expires || (found == name && record.header.expire_ms == when_ms);
    return false;
  };
  TRY(keyspace.Scan(KeyPosition(name), look));
  return expires;
}

// Adds those keys that expire first. The expiry row of a hash may be that of its fields, so up to `most` keys are read
// for their own expiry.
Status AddSoonest(Keyspace& keyspace, EvictionOrder order, size_t most, std::vector<Candidate>& found) {
  const ExpiryStart& start = keyspace.txn().store().expiry_start(ModeOfKeyspace(keyspace.id()));
  Cursor cursor = keyspace.txn().Scan(start.First(), MakeExpiryRow(INT64_MAX, {}, 0));
  size_t read = 0;
  for (size_t visited = 0; cursor.Valid() && visited < most * kMostVisits; cursor.Next(), ++visited) {
    int64_t when_ms;
    std::string_view key_row;
    KeyRowParts parts;
    if (!ParseExpiryRow(cursor.row(), when_ms, key_row) || !ParseKeyRow(key_row, parts)) continue;
    if (parts.keyspace != keyspace.id()) continue;
    const bool is_sure = cursor.value() == kExpiresOneRow;
    if (!is_sure && (++read > most || !TRY(ExpiresAt(keyspace, parts.key, when_ms)))) continue;
    const double rank = RankOf(keyspace.txn(), keyspace.Name(parts.key), when_ms, order);
    found.push_back({.name = std::string(parts.key), .rank = rank, .entry = {}, .bytes = 0});
    if (found.size() >= most) break;
  }
  return cursor.TakeStatus();
}

// The best of some random keys.
Result<std::vector<Candidate>> Choose(Keyspace& keyspace, const EvictionPolicy& policy, Random& random, size_t most) {
  const bool is_any = policy.order == EvictionOrder::kRandom;
  const size_t samples = is_any ? most : most * static_cast<size_t>(policy.samples);
  std::vector<Candidate> found;
  TRY(AddSamples(keyspace, policy, random, samples, found));
  if (policy.only_expiring && found.size() < most) TRY(AddSoonest(keyspace, policy.order, samples, found));
  std::ranges::sort(found, [](const Candidate& a, const Candidate& b) { return a.name < b.name; });
  const auto repeated = std::ranges::unique(found, {}, &Candidate::name);
  found.erase(repeated.begin(), repeated.end());
  std::ranges::stable_sort(found, std::greater(), &Candidate::rank);
  if (found.size() > most) found.erase(found.begin() + static_cast<ptrdiff_t>(most), found.end());
  return found;
}

// Deletes a key, unless it is gone. Returns its bytes.
Result<uint64_t> Delete(Keyspace& keyspace, const StripeVersions& versions, const EvictionPolicy& policy,
                        Candidate& chosen) {
  Transaction& txn = keyspace.txn();
  const Key key = keyspace.Name(chosen.name);
  if (txn.store().staging().hidden_slots().Has(KeySlot(chosen.name))) return uint64_t{0};
  if (!chosen.is_read || !versions.Hold(key.stripe())) {
    chosen.entry = TRY(keyspace.Find(key, Access::kPeek));
    if (!chosen.entry.exists()) return uint64_t{0};
    if (policy.only_expiring && chosen.entry.expire_ms() == kNoExpiry) return uint64_t{0};
    chosen.bytes = TRY(BytesOf(chosen.name, {chosen.entry.header(), chosen.entry.payload()}));
  }
  TRY(keyspace.Remove(key, chosen.entry));
  const int db = keyspace.db();
  if (WantsEvent(txn, kEvictedEvent)) EmitEvent(txn, db, "evicted", chosen.name);
  const InterestMask interest = txn.replicated_commands().interest();
  if (interest & kInterestInKeys) txn.notifications().Add({NotificationKind::kKeyChanged, chosen.name, {}});
  const std::string_view del[] = {"DEL", chosen.name};
  if (interest & kInterestInReplication) txn.replicated_commands().Add(db, del);
  return chosen.bytes;
}

// EvictKeys within a transaction that the caller ends on an error.
Result<uint64_t> Evict(Transaction& txn, int db, const Limits& limits, const EvictionPolicy& policy, Random& random,
                       size_t most, absl::FunctionRef<bool()> may_evict) {
  txn.BeginCommand(Lane::kSlow, WallMs(), false);
  txn.replicated_commands().SetApart();
  Keyspace keyspace(txn, db, limits);
  const StripeVersions versions(txn.store().stripes());
  std::vector<Candidate> chosen = TRY(Choose(keyspace, policy, random, most));
  std::vector<uint32_t> stripes;
  for (const Candidate& one : chosen) stripes.push_back(StripeOf(one.name));
  TRY(txn.Lock(stripes));
  if (!may_evict()) chosen.clear();
  uint64_t bytes = 0;
  uint64_t evicted = 0;
  for (Candidate& one : chosen) {
    const uint64_t freed = TRY(Delete(keyspace, versions, policy, one));
    bytes += freed;
    evicted += freed > 0;
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
                           int most, absl::FunctionRef<bool()> may_evict) {
  Result<uint64_t> bytes = Evict(txn, db, limits, policy, random, static_cast<size_t>(most), may_evict);
  if (!bytes.ok()) {
    txn.AbandonCommand();
    txn.Discard();
  }
  return bytes;
}

}  // namespace cairn
