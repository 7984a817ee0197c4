// SPDX-License-Identifier: BSD-3-Clause
#include "client/writable_replica_expires.h"

namespace cairn {

void WritableReplicaExpires::Remember(Owner owner, int64_t when_ms) {
  const auto [place, is_new] = times_.try_emplace(owner, when_ms);
  if (!is_new) {
    by_time_.erase({place->second, owner});
    place->second = when_ms;
  }
  by_time_.emplace(when_ms, std::move(owner));
  any_ = true;
}

void WritableReplicaExpires::Note(std::span<const Notification> notifications) {
  const MutexLock lock(mutex_);
  for (const Notification& one : notifications) {
    const auto when_ms = static_cast<int64_t>(one.source);
    if (one.kind == NotificationKind::kKeyExpires) Remember({one.channel, Of::kKey}, when_ms);
    if (one.kind == NotificationKind::kFieldsExpire) Remember({one.channel, Of::kFields}, when_ms);
  }
}

void WritableReplicaExpires::Note(std::span<const DueRow> rows) {
  const MutexLock lock(mutex_);
  for (const DueRow& row : rows) Remember({row.key_row, Of::kPutBack}, row.when_ms);
}

std::vector<DueRow> WritableReplicaExpires::TakeDue(int64_t now_ms, size_t most) {
  std::vector<DueRow> due;
  if (!any_) return due;
  const MutexLock lock(mutex_);
  while (!by_time_.empty() && due.size() < most && by_time_.begin()->first <= now_ms) {
    const auto first = by_time_.extract(by_time_.begin());
    times_.erase(first.value().second);
    due.push_back({first.value().first, std::move(first.value().second.first)});
  }
  any_ = !by_time_.empty();
  return due;
}

void WritableReplicaExpires::Clear() {
  const MutexLock lock(mutex_);
  times_.clear();
  by_time_.clear();
  any_ = false;
}

}  // namespace cairn
