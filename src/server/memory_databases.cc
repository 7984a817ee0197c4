// SPDX-License-Identifier: BSD-3-Clause
#include "server/memory_databases.h"

#include "base/clock.h"
#include "base/log.h"
#include "command/conditions.h"
#include "config/config.h"
#include "stats/process_memory.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr uint64_t kUsualPart = 4;  // of memory-budget, if there is no limit
constexpr uint64_t kAbove = 4;      // with noeviction, writes are refused at once this part above the limit
constexpr uint64_t kMargin = 20;    // the part of the limit that evictions free beyond it
// While a snapshot is held, a compaction drops only rows that were written and overwritten since. The next one starts
// after so many times the duration of the last one.
constexpr int64_t kPauses = 10;

}  // namespace

uint64_t MemoryDatabases::Limit() const {
  const auto limit = static_cast<uint64_t>(config_.settings().memory_databases_limit.load());
  return limit != 0 ? limit : MemoryBudget(config_.settings()) / kUsualPart;
}

uint64_t MemoryDatabases::MostBytes(uint64_t limit) const {
  return evictor_.Policy().evicts() ? 2 * limit : limit + limit / kAbove;
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
  thread_.Wake();
}

bool MemoryDatabases::CanEvict() const {
  return evictor_.Policy().evicts() && !evictor_.IsPaused() && !store_.lazy_free().is_held();
}

void MemoryDatabases::MakeRoom() {
  const uint64_t limit = Limit();
  Status status = Compact();
  while (status.ok() && !thread_.is_stopping() && CanEvict()) {
    const uint64_t bytes = store_.engines().MemoryBytes();
    bool found = false;
    if (bytes > limit) status = Evict(bytes - limit + limit / kMargin, found);
    if (!found) break;
    if (status.ok()) status = Compact();
  }
  if (!status.ok()) Log(LogSeverity::kWarning, "storage: databases in memory: {}", status.text());
  const bool must_wait = evictor_.Policy().evicts() && !CanEvict();
  conditions_.Set(kFullMemory, store_.engines().MemoryBytes() > (must_wait ? MostBytes(limit) : limit));
}

Status MemoryDatabases::Compact() {
  const uint64_t sequence = store_.engines().MemorySequence();
  const uint64_t flushes = store_.lazy_free().flushes();
  if (sequence == compacted_sequence_ && flushes == compacted_flushes_) return Ok();
  const int64_t begin_us = MonotonicUs();
  if (store_.lazy_free().is_held() && begin_us < next_held_us_) return Ok();
  TRY(store_.engines().CompactMemory());
  const int64_t end_us = MonotonicUs();
  next_held_us_ = end_us + kPauses * (end_us - begin_us);
  compacted_sequence_ = sequence;
  compacted_flushes_ = flushes;
  return Ok();
}

Status MemoryDatabases::Evict(uint64_t bytes, bool& found) {
  for (uint64_t freed = 0; freed < bytes && !thread_.is_stopping();) {
    const uint64_t more = TRY(evictor_.EvictSome(false));
    if (more == 0) break;
    freed += more;
    found = true;
  }
  return Ok();
}

}  // namespace cairn
