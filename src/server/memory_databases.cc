// SPDX-License-Identifier: BSD-3-Clause
#include "server/memory_databases.h"

#include <string>

#include "base/log.h"
#include "base/thread.h"
#include "client/notifier.h"
#include "command/conditions.h"
#include "config/config.h"
#include "stats/process_memory.h"
#include "storage/store.h"
#include "storage/transaction.h"

namespace cairn {
namespace {

constexpr uint64_t kUsualPart = 4;  // of memory-budget, if there is no limit
constexpr uint64_t kAbove = 4;      // with noeviction, writes are refused at once this part above the limit
constexpr uint64_t kMargin = 20;    // the part of the limit that evictions free beyond it
constexpr int kKeysPerCommit = 64;

}  // namespace

uint64_t MemoryDatabases::Limit() const {
  const auto limit = static_cast<uint64_t>(config_.settings().memory_databases_limit.load());
  return limit != 0 ? limit : MemoryBudget(config_.settings()) / kUsualPart;
}

EvictionPolicy MemoryDatabases::Policy() const {
  static constexpr std::string_view kPolicy[] = {"maxmemory-policy"};
  const std::string name = config_.Get(kPolicy).front().second;
  EvictionPolicy policy = EvictionPolicy::Named(name, static_cast<int>(config_.Number("maxmemory-samples")));
  if (conditions_.Has(kKeepsExpired)) policy.order = EvictionOrder::kNone;  // a replica's primary evicts
  return policy;
}

uint64_t MemoryDatabases::MostBytes(uint64_t limit) const {
  return Policy().evicts() ? 2 * limit : limit + limit / kAbove;
}

void MemoryDatabases::Watch() {
  if (store_.engines().memory() == nullptr) return;
  const uint64_t bytes = store_.engines().MemoryBytes();
  const uint64_t limit = Limit();
  const uint64_t flushes = store_.lazy_free().flushes();
  if (bytes <= limit) conditions_.Set(kFullMemory, false);
  if (bytes > limit && bytes > MostBytes(limit)) conditions_.Set(kFullMemory, true);
  if (bytes <= limit && flushes == seen_flushes_) return;
  seen_flushes_ = flushes;
  const MutexLock lock(mutex_);
  if (!thread_.joinable()) thread_ = StartThread("memory-limit", [this] { Run(); });
  must_look_ = true;
  wake_.NotifyOne();
}

void MemoryDatabases::Stop() {
  is_ending_ = true;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    wake_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
}

void MemoryDatabases::Run() {
  txn_ = std::make_unique<Transaction>(store_);
  for (;;) {
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && !must_look_) wake_.Wait(mutex_);
      if (stopping_) break;
      must_look_ = false;
    }
    MakeRoom();
  }
  txn_.reset();
}

void MemoryDatabases::MakeRoom() {
  const EvictionPolicy policy = Policy();
  const uint64_t limit = Limit();
  Status status = Compact();
  while (status.ok() && policy.evicts() && !is_ending_ && !store_.lazy_free().is_held()) {
    const uint64_t bytes = store_.engines().MemoryBytes();
    bool found = false;
    if (bytes > limit) status = Evict(bytes - limit + limit / kMargin, policy, found);
    if (!found) break;
    if (status.ok()) status = Compact();
  }
  if (!status.ok()) Log(LogSeverity::kWarning, "storage: databases in memory: {}", status.text());
  const bool must_wait = policy.evicts() && store_.lazy_free().is_held();
  conditions_.Set(kFullMemory, store_.engines().MemoryBytes() > (must_wait ? MostBytes(limit) : limit));
}

Status MemoryDatabases::Compact() {
  const uint64_t sequence = store_.engines().MemorySequence();
  const uint64_t flushes = store_.lazy_free().flushes();
  if (sequence == compacted_sequence_ && flushes == compacted_flushes_) return Ok();
  TRY(store_.engines().CompactMemory());
  compacted_sequence_ = sequence;
  compacted_flushes_ = flushes;
  return Ok();
}

Status MemoryDatabases::Evict(uint64_t bytes, const EvictionPolicy& policy, bool& found) {
  uint64_t freed = 0;
  for (bool goes_on = true; goes_on && freed < bytes && !is_ending_;) {
    goes_on = false;
    for (int db = 0; db < store_.databases().size(); ++db) {
      const Database& database = store_.databases()[db];
      if (ModeOfKeyspace(database.keyspace) != StorageMode::kMemory || database.keys <= 0) continue;
      const uint64_t more = TRY(EvictKeys(*txn_, db, config_.limits(), policy, random_, kKeysPerCommit));
      notifier_.Deliver(*txn_);
      freed += more;
      goes_on |= more > 0;
      found |= more > 0;
    }
  }
  return Ok();
}

}  // namespace cairn
