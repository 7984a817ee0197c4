// SPDX-License-Identifier: BSD-3-Clause
#include "server/own_expiries.h"

#include <utility>

namespace cairn {

void OwnExpiries::Note(std::span<const Announcement> announcements) {
  const std::lock_guard lock(mutex_);
  for (const Announcement& announcement : announcements) {
    if (announcement.kind != AnnouncementKind::kKeyExpires) continue;
    rows_.insert({static_cast<int64_t>(announcement.source), announcement.channel});
  }
  any_ = !rows_.empty();
}

void OwnExpiries::Note(std::span<const DueRow> rows) {
  const std::lock_guard lock(mutex_);
  rows_.insert(rows.begin(), rows.end());
  any_ = !rows_.empty();
}

std::vector<DueRow> OwnExpiries::TakeDue(int64_t now_ms, size_t most) {
  std::vector<DueRow> due;
  if (!any_) return due;
  const std::lock_guard lock(mutex_);
  while (!rows_.empty() && due.size() < most && rows_.begin()->when_ms <= now_ms) {
    due.push_back(std::move(rows_.extract(rows_.begin()).value()));
  }
  any_ = !rows_.empty();
  return due;
}

void OwnExpiries::Clear() {
  const std::lock_guard lock(mutex_);
  rows_.clear();
  any_ = false;
}

}  // namespace cairn
