// SPDX-License-Identifier: BSD-3-Clause
//
// AccessLog: the last calls and logins that were refused, newest first, for ACL LOG. The same
// refusal within a minute is counted, not listed again.
//
// Thread: any; guarded by mutex_, a leaf.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "acl/denial.h"

namespace cairn {

struct AccessLogEntry {
  DenialReason reason = DenialReason::kNone;
  bool in_multi = false;
  bool in_script = false;
  std::string object;  // the command, key or channel
  std::string username;
  std::string client;  // a line of CLIENT LIST
  // ---- set by the log
  uint64_t id = 0;
  uint64_t count = 0;
  int64_t created_ms = 0;  // Unix time
  int64_t updated_ms = 0;
};

class AccessLog {
 public:
  // `most_entries`: acllog-max-len, read with each call.
  explicit AccessLog(const std::atomic<int64_t>& most_entries) : most_entries_(most_entries) {}

  void Add(AccessLogEntry entry, int64_t now_ms);
  // At most `count`.
  std::vector<AccessLogEntry> Newest(size_t count) const;
  void Reset();
  // How often access was denied for this reason since the start.
  uint64_t count(DenialReason reason) const;

 private:
  const std::atomic<int64_t>& most_entries_;
  mutable std::mutex mutex_;
  std::deque<AccessLogEntry> entries_;  // newest first
  uint64_t next_id_ = 0;
  std::array<uint64_t, 5> counts_{};  // by DenialReason
};

}  // namespace cairn
