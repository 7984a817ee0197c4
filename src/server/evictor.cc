// SPDX-License-Identifier: BSD-3-Clause
#include "server/evictor.h"

#include <algorithm>
#include <string>

#include "base/clock.h"
#include "client/notifier.h"
#include "command/conditions.h"
#include "config/config.h"
#include "storage/store.h"
#include "storage/transaction.h"

namespace cairn {
namespace {

constexpr int kKeysPerCommit = 64;
constexpr int kKeysPerCommitInHurry = 256;
constexpr int kSamplesInHurry = 2;

}  // namespace

Evictor::Evictor(Store& store, Config& config, const Conditions& conditions, const Notifier& notifier, bool in_memory)
    : store_(store), config_(config), conditions_(conditions), notifier_(notifier), in_memory_(in_memory),
      txn_(std::make_unique<Transaction>(store)), random_(static_cast<uint64_t>(MonotonicUs())) {}

Evictor::~Evictor() = default;

EvictionPolicy Evictor::Policy() const {
  static constexpr std::string_view kPolicy[] = {"maxmemory-policy"};
  const std::string name = config_.Get(kPolicy).front().second;
  EvictionPolicy policy = EvictionPolicy::Named(name, static_cast<int>(config_.Number("maxmemory-samples")));
  if (conditions_.Has(kKeepsExpired)) policy.order = EvictionOrder::kNone;
  return policy;
}

bool Evictor::IsPaused() const { return conditions_.Has(kPausesExpiry); }

uint64_t Evictor::KeysOf(int db) const {
  const Database& database = store_.databases()[db];
  const bool is_one = (ModeOfKeyspace(database.keyspace) == StorageMode::kMemory) == in_memory_;
  return is_one ? static_cast<uint64_t>(std::max<int64_t>(database.keys, 0)) : 0;
}

int Evictor::ChooseDatabase() {
  uint64_t keys = 0;
  for (int db = 0; db < store_.databases().size(); ++db) keys += KeysOf(db);
  uint64_t chosen = keys == 0 ? 0 : random_.Below(keys);
  for (int db = 0; db < store_.databases().size(); ++db) {
    if (chosen < KeysOf(db)) return db;
    chosen -= KeysOf(db);
  }
  return 0;
}

// Databases after the chosen one are tried if none of its keys suits.
Result<uint64_t> Evictor::EvictSome(bool hurries) {
  const int first = ChooseDatabase();
  EvictionPolicy policy = Policy();
  if (!policy.evicts()) return uint64_t{0};
  const auto may_evict = [this] { return !conditions_.Has(kKeepsExpired | kPausesExpiry); };
  if (hurries) policy.samples = std::min(policy.samples, kSamplesInHurry);
  for (int i = 0; i < store_.databases().size(); ++i) {
    const int db = (first + i) % store_.databases().size();
    if (KeysOf(db) == 0) continue;
    const uint64_t freed = TRY(EvictKeys(*txn_, db, config_.limits(), policy, random_,
                                         hurries ? kKeysPerCommitInHurry : kKeysPerCommit, may_evict));
    notifier_.Deliver(*txn_);
    if (freed > 0) return freed;
  }
  return uint64_t{0};
}

}  // namespace cairn
