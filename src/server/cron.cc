// SPDX-License-Identifier: BSD-3-Clause
#include "server/cron.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "client/client_memory.h"
#include "client/client_pause.h"
#include "client/notifier.h"
#include "command/conditions.h"
#include "config/config.h"
#include "replication/memory_database_saves.h"
#include "replication/rdb_saves.h"
#include "replication/replication.h"
#include "stats/latency_monitor.h"
#include "stats/process_memory.h"
#include "stats/server_state.h"
#include "stats/stats.h"
#include "storage/disk_reserve.h"
#include "storage/engine_counters.h"
#include "storage/store.h"
#include "types/expiry.h"

namespace cairn {
namespace {

constexpr int64_t kTickMs = 20;
constexpr int64_t kSampleMs = 100;
constexpr int64_t kSyncMs = 1000;
constexpr int64_t kPurgeUs = 1000000;
constexpr uint64_t kKeysPerEffort = 10000;  // per run; active-expire-effort multiplies it

}  // namespace

Cron::Cron(const Parts& parts)
    : parts_(parts), memory_databases_(parts.store, parts.config, parts.conditions, parts.notifier),
      size_limit_(parts.store, parts.config, parts.conditions, parts.pause, parts.notifier, parts.live_size) {
  cron_thread_ = StartThread("cron", [this] { RunCron(); });
  sync_thread_ = StartThread("sync", [this] { RunSync(); });
}

Cron::~Cron() { Stop(); }

bool Cron::Sleep(int64_t ms) {
  const MutexLock lock(mutex_);
  return !wake_.WaitFor(mutex_, std::chrono::milliseconds(ms),
                        [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_; });
}

// The allocator keeps free memory for a second or ten, until it is purged. Other clients can take as much as the
// evicted ones had within some milliseconds.
void Cron::PurgeAfterEvictions(int64_t now_us) {
  const uint64_t evicted = parts_.client_memory.evicted();
  if (evicted == evicted_) return;
  evicted_ = evicted;
  PurgeFreeMemory();
  purged_us_ = now_us;
}

void Cron::WatchMemory(int64_t now_us) {
  const uint64_t resident = ResidentBytes();
  if (resident > MemoryBudget(parts_.config.settings()) && now_us - purged_us_ >= kPurgeUs) {
    PurgeFreeMemory();
    purged_us_ = now_us;
  }
  parts_.store.memory().AdjustTo({.client_bytes = parts_.client_memory.counted(),
                                  .database_bytes = parts_.store.engines().MemoryTableBytes(),
                                  .resident_bytes = resident});
  memory_databases_.Watch();
  size_limit_.Watch();
}

void Cron::RunCron() {
  const std::unique_ptr<Transaction> txn = std::make_unique<Transaction>(parts_.store);
  int64_t sampled_us = 0;
  while (Sleep(kTickMs)) {
    if (!parts_.debug.ticks) continue;
    const int64_t now_us = MonotonicUs();
    PurgeAfterEvictions(now_us);
    if (now_us - sampled_us >= kSampleMs * 1000) {
      parts_.replication.Tick(MonotonicMs());
      parts_.stats.Sample(now_us);
      WatchMemory(now_us);
      parts_.store.engine().Watch();
      parts_.store.recovery().Watch();
      parts_.store.compactor().Watch();
      NoteStalls();
      sampled_us = now_us;
    }
    parts_.store.disk_room().Watch();
    const Status freed = parts_.store.lazy_free().Run(parts_.store);
    if (!freed.ok()) {
      Log(LogSeverity::kWarning, "storage: dropped rows could not be deleted and wait for a compaction: {}",
          freed.text());
    }
    parts_.pause.EndIfOver(MonotonicMs());
    parts_.rdb_saves.StartScheduled();
    parts_.memory_database_saves.Watch();
    if (!parts_.debug.active_expire || !parts_.store.recovery().writable()) continue;
    if (!parts_.conditions.Has(kPausesExpiry)) ExpireKeys(*txn);
  }
}

void Cron::ExpireKeys(Transaction& txn) {
  const LatencyTimer timer(parts_.latency, "expire-cycle");
  const auto effort = static_cast<uint64_t>(parts_.config.settings().active_expire_effort.load());
  const uint64_t most = kKeysPerEffort * effort;
  const auto may_expire = [this] { return !parts_.conditions.Has(kKeepsExpired | kPausesExpiry); };
  const Status expired = parts_.conditions.Has(kKeepsExpired)
                             ? ExpireOnWritableReplica(txn, most)
                             : ExpireDue(txn, parts_.config.limits(), WallMs(), most, may_expire).TakeStatus();
  parts_.notifier.Deliver(txn);
  if (expired.ok()) return;
  Log(LogSeverity::kWarning, "expiry: expired keys could not be deleted and stay hidden: {}", expired.text());
}

// On a replica, only keys that its own clients have written.
Status Cron::ExpireOnWritableReplica(Transaction& txn, uint64_t most) {
  WritableReplicaExpires& own = parts_.writable_replica_expires;
  const int64_t now_ms = WallMs();
  const std::vector<DueRow> due = own.TakeDue(now_ms, most);
  ExpiredRows expired = ExpireRows(txn, parts_.config.limits(), now_ms, due, [] { return true; });
  own.Note(std::span(due).subspan(expired.done));
  return expired.status.Is(Code::kWouldWait) ? Ok() : std::move(expired.status);
}

void Cron::NoteStalls() {
  const uint64_t stalled_us = WriteStallMicros(parts_.store);
  parts_.latency.Note("write-stall", static_cast<int64_t>(stalled_us - stalled_us_));
  stalled_us_ = stalled_us;
}

void Cron::RunSync() {
  while (Sleep(kSyncMs)) {
    if (!parts_.store.log().syncs_each_second()) continue;
    if (!parts_.store.recovery().writable()) continue;
    const Status status = SyncLog();
    if (!status.ok()) {
      Log(LogSeverity::kWarning, "storage: the log could not be synced: {}", status.text());
    }
  }
}

Status Cron::SyncLog() {
  const LatencyTimer timer(parts_.latency, "aof-fsync-everysec");
  return parts_.replication.log().Sync();
}

void Cron::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  if (cron_thread_.joinable()) cron_thread_.join();
  if (sync_thread_.joinable()) sync_thread_.join();
  memory_databases_.Stop();
  size_limit_.Stop();
}

}  // namespace cairn
