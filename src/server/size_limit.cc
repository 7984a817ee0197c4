// SPDX-License-Identifier: BSD-3-Clause
#include "server/size_limit.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "client/client_pause.h"
#include "command/conditions.h"
#include "config/config.h"
#include "stats/process_memory.h"
#include "storage/live_size.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr uint64_t kAbove = 4;      // writes are held back this part above the limit
constexpr int64_t kHoldMs = 1000;   // at most, unless evictions go on
constexpr uint64_t kMargin = 1000;  // the part of the limit that evictions free beyond it
constexpr uint64_t kNear = 20;      // so many margins below the limit it is taken for reached
constexpr uint64_t kGarbage = 10;   // this part of the limit may be garbage of evictions before a compaction is due
// Writes wait while that compaction runs. The time grows with the garbage: none below kPacedGarbage of the limit,
// kPacedMs at kMuchGarbage, kMostPacedMs from kMostGarbage on. Without this the garbage of a busy server would grow
// without bound.
constexpr double kPacedGarbage = 0.16;
constexpr double kMuchGarbage = 0.22;
constexpr double kMostGarbage = 0.40;
constexpr double kPacedMs = 70;  // of the 100 between two looks
constexpr double kMostPacedMs = 500;
constexpr uint64_t kHurry = 20;  // this part above the limit evictions take fewer samples
constexpr int kMostTries = 3;    // without a key that suits
// Memtables keep overwritten and evicted rows, and an eviction adds to them. Large ones are flushed before keys are
// evicted, so that they never take the place of all keys. An arena takes up to a MB before it holds much.
constexpr uint64_t kMemtables = 4;         // this part of the limit is large
constexpr uint64_t kMemtablesOfSmall = 2;  // and this part if it is between these two sizes
constexpr uint64_t kLeastMemtables = 1 << 20;
constexpr uint64_t kMostMemtables = 8 << 20;
constexpr uint64_t kLeastFlush = 4 << 20;  // or kMemtables: when no key is left
// LazyFree works fifty times a second. Evictions wait for it, a second at most, each time they have deleted collections
// of about this part of the bytes above the limit. A collection may be many times as large as its estimate.
constexpr uint64_t kUncounted = 8;
constexpr auto kPause = std::chrono::milliseconds(5);
constexpr int kMostPauses = 200;

// How long writes wait when garbage is this part of the limit.
int64_t HeldMs(double garbage) {
  const auto part = [garbage](double begin, double end) {
    return std::clamp((garbage - begin) / (end - begin), 0., 1.);
  };
  return static_cast<int64_t>(kPacedMs * part(kPacedGarbage, kMuchGarbage) +
                              (kMostPacedMs - kPacedMs) * part(kMuchGarbage, kMostGarbage));
}

}  // namespace

SizeLimit::SizeLimit(Store& store, Config& config, Conditions& conditions, ClientPause& pause, const Notifier& notifier,
                     LiveSize& size)
    : store_(store), config_(config), conditions_(conditions), pause_(pause), size_(size),
      evictor_(store, config, conditions, notifier, false) {}

void SizeLimit::Watch() {
  const MutexLock lock(mutex_);  // the last look knows the newest limit
  const uint64_t limit = MaxDataSize(config_.settings());
  if (limit == 0) return conditions_.Set(kFullData, false);
  size_.SampleTables(store_);
  size_.Refresh(store_);
  const uint64_t bytes = size_.Bytes(store_);
  LimitGarbage(bytes, limit);
  if (bytes <= limit) return conditions_.Set(kFullData, false);
  const bool evicts = evictor_.Policy().evicts();
  if (!evicts || is_stuck_) conditions_.Set(kFullData, true);
  if (!evicts) return;
  if (!is_stuck_) PaceWriters(bytes, limit);
  thread_.Wake();
}

void SizeLimit::LimitGarbage(uint64_t bytes, uint64_t limit) {
  const uint64_t reached = limit - limit / kMargin * kNear;
  const uint64_t garbage = size_.GarbageBytes(store_);
  const bool is_held = store_.lazy_free().is_held();
  requested_garbage_ = std::min(requested_garbage_, garbage);
  const uint64_t most = limit / kGarbage + (is_held ? requested_garbage_ : 0);
  const bool is_much = bytes + garbage > reached && garbage > most;
  const bool may_be_much = bytes > reached && store_.compactor().has_unknown_garbage();
  const bool refuses = is_stuck_ || !evictor_.Policy().evicts();
  const bool may_be_some = bytes > limit && store_.compactor().may_find_garbage(refuses);
  if (is_much || may_be_much || may_be_some) {
    store_.compactor().RequestForSizeLimit();
    requested_garbage_ = garbage;
  }
  if (bytes <= reached || is_held) return;
  const int64_t held_ms = HeldMs(static_cast<double>(garbage) / static_cast<double>(limit));
  if (held_ms == 0 || pause_.is_set() || !store_.compactor().runs_for_size_limit()) return;
  const int64_t now_ms = MonotonicMs();
  pause_.Begin(ClientPause::Purpose::kSizeLimit, ClientPause::Mode::kWrites, now_ms, now_ms + held_ms);
}

void SizeLimit::PaceWriters(uint64_t bytes, uint64_t limit) {
  const uint64_t most = limit + limit / kAbove;
  if (bytes > most) {
    const int64_t now_ms = MonotonicMs();
    holds_writes_ = true;
    pause_.Begin(ClientPause::Purpose::kSizeLimit, ClientPause::Mode::kWrites, now_ms, now_ms + kHoldMs);
  } else if (bytes < most - limit / kMargin && holds_writes_.exchange(false)) {
    pause_.End(ClientPause::Purpose::kSizeLimit);
  }
}

// Waits until LazyFree has counted the rows of evicted collections. Until then these rows count as alive, and further
// evictions would delete more keys than necessary.
void SizeLimit::AwaitOrphans() {
  const LazyFree& lazy_free = store_.lazy_free();
  const uint64_t end = lazy_free.added();
  uncounted_ = 0;
  for (int i = 0; i < kMostPauses && lazy_free.done() < end && !thread_.is_stopping(); ++i) {
    std::this_thread::sleep_for(kPause);
  }
}

// Evicts some keys, or flushes memtables if they are large for the limit. Returns about how many bytes that frees; 0:
// no key suits the policy, or nothing can be flushed.
Result<uint64_t> SizeLimit::MakeSomeRoom(uint64_t bytes, uint64_t limit) {
  const uint64_t memtables = LiveSize::MemtableBytes(store_);
  const uint64_t part = limit / kMemtables;
  if (memtables <= std::max(part, std::clamp(limit / kMemtablesOfSmall, kLeastMemtables, kMostMemtables))) {
    const uint64_t collections = store_.lazy_free().added();
    const uint64_t freed = TRY(evictor_.EvictSome(bytes > limit + limit / kHurry));
    if (store_.lazy_free().added() != collections) uncounted_ += freed;
    if (uncounted_ > (bytes - (limit - limit / kMargin)) / kUncounted) AwaitOrphans();
    if (freed > 0 || memtables <= std::max(part, kLeastFlush)) return freed;
  }
  const uint64_t sequence = store_.log().LatestSequence();
  TRY(store_.engine().Flush());
  const bool is_vain = LiveSize::MemtableBytes(store_) >= memtables && store_.log().LatestSequence() == sequence;
  return is_vain ? uint64_t{0} : memtables;
}

void SizeLimit::MakeRoom() {
  int tries = 0;
  while (!thread_.is_stopping() && tries < kMostTries && evictor_.Policy().evicts() && !evictor_.IsPaused()) {
    const uint64_t limit = MaxDataSize(config_.settings());
    const uint64_t bytes = size_.Bytes(store_);
    if (limit == 0 || bytes <= limit - limit / kMargin) break;
    if (bytes <= limit) conditions_.Set(kFullData, false);
    PaceWriters(bytes, limit);
    const Result<uint64_t> freed = MakeSomeRoom(bytes, limit);
    if (!freed.ok()) {
      Log(LogSeverity::kWarning, "storage: keys could not be evicted: {}", freed.status().text());
      break;
    }
    tries = *freed == 0 ? tries + 1 : 0;
    size_.Refresh(store_);
  }
  is_stuck_ = tries == kMostTries;
  if (holds_writes_.exchange(false)) pause_.End(ClientPause::Purpose::kSizeLimit);
}

}  // namespace cairn
