// SPDX-License-Identifier: BSD-3-Clause
//
// LogUses: readers of the log other than replicas, such as the export of slots. While there are any, changes are
// logged, and the log is kept from the first position that one of them needs.
//
// Thread: any.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "storage/old_logs.h"

namespace cairn {

class LogUses {
 public:
  // Ends when its last owner drops it.
  struct Use {
    std::atomic<uint64_t> from{1};  // the first sequence number that is still needed
  };

  std::shared_ptr<Use> Begin() {
    const MutexLock lock(mutex_);
    std::erase_if(uses_, [](const std::weak_ptr<Use>& use) { return use.expired(); });
    auto use = std::make_shared<Use>();
    uses_.push_back(use);
    return use;
  }
  bool any() const { return FirstNeeded() != kNothingNeeded; }
  uint64_t FirstNeeded() const {
    const MutexLock lock(mutex_);
    uint64_t first = kNothingNeeded;
    for (const std::weak_ptr<Use>& each : uses_) {
      if (const auto use = each.lock()) first = std::min(first, use->from.load());
    }
    return first;
  }

 private:
  mutable Mutex mutex_;
  std::vector<std::weak_ptr<Use>> uses_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn
