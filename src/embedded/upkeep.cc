// SPDX-License-Identifier: BSD-3-Clause
#include "embedded/upkeep.h"

#include <chrono>
#include <memory>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "storage/transaction.h"
#include "types/expiry.h"

namespace cairn {
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);
constexpr int64_t kSyncUs = 1'000'000;
constexpr uint64_t kKeysPerRun = 50'000;

}  // namespace

Upkeep::Upkeep(Store& store, const Limits& limits, bool syncs) : store_(store), limits_(limits), syncs_(syncs) {
  thread_ = StartThread("upkeep", [this] { Run(); });
}

void Upkeep::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

bool Upkeep::Sleep() {
  const MutexLock lock(mutex_);
  return !wake_.WaitFor(mutex_, kPause, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_; });
}

void Upkeep::Run() {
  const auto txn = std::make_unique<Transaction>(store_);
  int64_t synced_us = MonotonicUs();
  while (Sleep()) {
    store_.engine().Watch();
    store_.recovery().Watch();
    store_.compactor().Watch();
    store_.disk_room().Watch();
    const Status freed = store_.lazy_free().Run(store_);
    if (!freed.ok()) Log(LogSeverity::kWarning, "storage: dropped rows wait for a compaction: {}", freed.text());
    if (!store_.recovery().writable()) continue;
    const Status expired = ExpireDue(*txn, limits_, WallMs(), kKeysPerRun, [] { return true; }).TakeStatus();
    if (!expired.ok()) Log(LogSeverity::kWarning, "expiry: expired keys stay hidden: {}", expired.text());
    if (syncs_ && MonotonicUs() - synced_us >= kSyncUs) {
      SyncLog();
      synced_us = MonotonicUs();
    }
  }
}

void Upkeep::SyncLog() {
  const Status synced = store_.log().Sync();
  if (!synced.ok()) Log(LogSeverity::kWarning, "storage: the log could not be synced: {}", synced.text());
}

}  // namespace cairn
