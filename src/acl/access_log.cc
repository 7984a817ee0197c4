// SPDX-License-Identifier: BSD-3-Clause
#include "acl/access_log.h"

#include <algorithm>
#include <tuple>

namespace cairn {
namespace {

constexpr int64_t kSameWithinMs = 60000;
constexpr size_t kMostTextBytes = 1024;  // of the client's own bytes
constexpr size_t kEntriesCompared = 10;

bool IsSame(const AccessLogEntry& a, const AccessLogEntry& b) {
  return std::tie(a.reason, a.in_multi, a.in_script, a.object, a.username) ==
         std::tie(b.reason, b.in_multi, b.in_script, b.object, b.username);
}

}  // namespace

void AccessLog::Add(AccessLogEntry entry, int64_t now_ms) {
  for (std::string* text : {&entry.object, &entry.username, &entry.client}) {
    if (text->size() > kMostTextBytes) text->replace(kMostTextBytes, std::string::npos, "...");
    text->shrink_to_fit();
  }
  const MutexLock lock(mutex_);
  ++counts_[static_cast<size_t>(entry.reason)];
  const auto end = entries_.begin() + static_cast<ptrdiff_t>(std::min(entries_.size(), kEntriesCompared));
  const auto same = std::find_if(entries_.begin(), end, [&](const AccessLogEntry& known) {
    return IsSame(known, entry) && std::abs(now_ms - known.updated_ms) <= kSameWithinMs;
  });
  const bool is_known = same != end;
  if (is_known) {
    entry.id = same->id;
    entry.count = same->count;
    entry.created_ms = same->created_ms;
    entries_.erase(same);
  } else {
    entry.id = next_id_++;
    entry.created_ms = now_ms;
  }
  ++entry.count;
  entry.updated_ms = now_ms;
  entries_.push_front(std::move(entry));
  if (is_known) return;
  const auto most = static_cast<size_t>(most_entries_.load(std::memory_order_relaxed));
  if (entries_.size() > most) entries_.resize(most);
}

std::vector<AccessLogEntry> AccessLog::Newest(size_t count) const {
  const MutexLock lock(mutex_);
  const size_t shown = std::min(count, entries_.size());
  return {entries_.begin(), entries_.begin() + static_cast<ptrdiff_t>(shown)};
}

void AccessLog::Reset() {
  const MutexLock lock(mutex_);
  entries_.clear();
}

uint64_t AccessLog::count(DenialReason reason) const {
  const MutexLock lock(mutex_);
  return counts_[static_cast<size_t>(reason)];
}

}  // namespace cairn
