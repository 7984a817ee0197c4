// SPDX-License-Identifier: BSD-3-Clause
//
// AccessLog: the latest refused calls and logins, newest first, for ACL LOG. A repetition within a minute is counted
// and not listed again.
//
// Thread: any; guarded by mutex_, a leaf.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "acl/denial.h"
#include "base/mutex.h"

namespace cairn {

struct AccessLogEntry {
  DenialReason reason = DenialReason::kNone;
  bool in_multi = false;
  bool in_script = false;
  std::string object;  // the command, key or channel
  std::string username;
  std::string client;  // as in CLIENT LIST
  // ---- filled in by the log
  uint64_t id = 0;
  uint64_t count = 0;
  int64_t created_ms = 0;  // Unix time
  int64_t updated_ms = 0;
};

class AccessLog {
 public:
  // `most_entries`: acllog-max-len, read on each call.
  explicit AccessLog(const std::atomic<int64_t>& most_entries) : most_entries_(most_entries) {}

  void Add(AccessLogEntry entry, int64_t now_ms);
  // At most `count` entries.
  std::vector<AccessLogEntry> Newest(size_t count) const;
  void Reset();
  // How often access was denied for this reason since the process started.
  uint64_t count(DenialReason reason) const;

 private:
  const std::atomic<int64_t>& most_entries_;
  mutable Mutex mutex_;
  std::deque<AccessLogEntry> entries_ ABSL_GUARDED_BY(mutex_);  // newest first
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 0;
  std::array<uint64_t, 6> counts_ ABSL_GUARDED_BY(mutex_){};  // by DenialReason
};

}  // namespace cairn
