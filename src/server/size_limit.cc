// SPDX-License-Identifier: BSD-3-Clause
#include "server/size_limit.h"

#include "base/log.h"
#include "base/thread.h"
#include "command/conditions.h"
#include "config/config.h"
#include "stats/process_memory.h"
#include "storage/live_size.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr uint64_t kAbove = 4;      // writes are refused at once this part above the limit
constexpr uint64_t kMargin = 1000;  // the part of the limit that evictions free beyond it
constexpr uint64_t kHurry = 20;     // this part above the limit evictions take fewer samples
constexpr int kMostTries = 3;       // without a key that suits

}  // namespace

SizeLimit::SizeLimit(Store& store, Config& config, Conditions& conditions, const Notifier& notifier, LiveSize& size)
    : store_(store), config_(config), conditions_(conditions), size_(size),
      evictor_(store, config, conditions, notifier, false) {}

void SizeLimit::Watch() {
  // One look at a time: the last one knows the newest limit.
  const MutexLock lock(mutex_);
  const uint64_t limit = MaxDataSize(config_.settings());
  if (limit == 0) return conditions_.Set(kFullData, false);
  size_.Refresh(store_);
  const uint64_t bytes = size_.Bytes(store_);
  if (bytes <= limit) return conditions_.Set(kFullData, false);
  const bool evicts = evictor_.Policy().evicts();
  if (!evicts || is_stuck_ || bytes > limit + limit / kAbove) conditions_.Set(kFullData, true);
  if (!evicts || stopping_) return;
  if (!thread_.joinable()) thread_ = StartThread("size-limit", [this] { Run(); });
  must_look_ = true;
  wake_.NotifyOne();
}

void SizeLimit::Stop() {
  is_ending_ = true;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    wake_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
}

void SizeLimit::Run() {
  for (;;) {
    {
      const MutexLock lock(mutex_);
      while (!stopping_ && !must_look_) wake_.Wait(mutex_);
      if (stopping_) return;
      must_look_ = false;
    }
    MakeRoom();
  }
}

void SizeLimit::MakeRoom() {
  int tries = 0;
  while (!is_ending_ && tries < kMostTries && evictor_.Policy().evicts()) {
    const uint64_t limit = MaxDataSize(config_.settings());
    const uint64_t bytes = size_.Bytes(store_);
    if (limit == 0 || bytes <= limit - limit / kMargin) break;
    if (bytes <= limit) conditions_.Set(kFullData, false);
    const Result<uint64_t> freed = evictor_.EvictSome(bytes > limit + limit / kHurry);
    if (!freed.ok()) {
      Log(LogSeverity::kWarning, "storage: keys could not be evicted: {}", freed.status().text());
      break;
    }
    tries = *freed == 0 ? tries + 1 : 0;
    size_.Refresh(store_);
  }
  is_stuck_ = tries == kMostTries;
}

}  // namespace cairn
