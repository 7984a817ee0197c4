// SPDX-License-Identifier: BSD-3-Clause
//
// CommandLog: the last commands that were above a limit, newest first. There are three logs: of slow commands
// (SLOWLOG), of large requests and of large replies (COMMANDLOG).
//
// An entry keeps at most 32 arguments of at most 128 bytes each; a note in Redis's words replaces the rest. Ids count
// up from 0, and a reset does not restart them.
//
// Thread: any; guarded by mutex_. The common case, a command below all limits, costs three atomic reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace cairn {

struct CommandLogEntry {
  int64_t id = 0;
  int64_t unix_s = 0;
  int64_t value = 0;  // what exceeded the limit: microseconds, or bytes
  std::vector<std::string> argv;
  std::string peer;
  std::string client_name;
};

class CommandLog {
 public:
  // Each call reads the bounds, so CONFIG SET takes effect at once. A negative `limit` turns the log off, 0 logs
  // everything.
  CommandLog(const std::atomic<int64_t>& limit, const std::atomic<int64_t>& max_entries)
      : limit_(limit), max_entries_(max_entries) {}

  bool Takes(int64_t value) const {
    const int64_t limit = limit_.load(std::memory_order_relaxed);
    return limit >= 0 && value >= limit;
  }

  // Adds an entry. REQUIRES: Takes(value) was true.
  void Add(std::span<const std::string_view> argv, int64_t value, const std::string& peer,
           const std::string& client_name);

  // The newest `count` entries; all if it is negative.
  std::vector<CommandLogEntry> Newest(int64_t count) const;
  size_t size() const;
  void Reset();

 private:
  const std::atomic<int64_t>& limit_;
  const std::atomic<int64_t>& max_entries_;
  mutable Mutex mutex_;
  std::deque<CommandLogEntry> entries_ ABSL_GUARDED_BY(mutex_);  // newest first
  int64_t next_id_ ABSL_GUARDED_BY(mutex_) = 0;
};

struct CommandLogs {
  // What a command took. A request that its log does not take may be counted as 0.
  struct Sizes {
    int64_t duration_us = 0;
    int64_t request_bytes = 0;
    int64_t reply_bytes = 0;
  };

  CommandLog slow;
  CommandLog large_requests;
  CommandLog large_replies;

  // The size of a request in RESP, or 0 if it is below the limit. A bound of the size, which is cheaper, excludes
  // almost all requests.
  template <typename Words>
  int64_t MeasureRequest(const Words& argv) const {
    constexpr size_t kMostHeaderBytes = 32;  // of the array and of a string: a sign, a length and two line ends
    size_t bound = kMostHeaderBytes;
    for (const auto& word : argv) bound += word.size() + kMostHeaderBytes;
    if (!large_requests.Takes(static_cast<int64_t>(bound))) [[likely]]
      return 0;
    return static_cast<int64_t>(RequestBytes(argv));
  }
  // The size of a request in RESP.
  template <typename Words>
  static size_t RequestBytes(const Words& argv) {
    size_t bytes = HeaderBytes(argv.size());
    for (const auto& word : argv) bytes += HeaderBytes(word.size()) + word.size() + 2;
    return bytes;
  }

  bool AnyTakes(const Sizes& sizes) const {
    return slow.Takes(sizes.duration_us) || large_requests.Takes(sizes.request_bytes) ||
           large_replies.Takes(sizes.reply_bytes);
  }
  // Adds the command to each log that takes it.
  void Add(std::span<const std::string_view> argv, const Sizes& sizes, const std::string& peer,
           const std::string& client_name);

 private:
  static size_t HeaderBytes(size_t count);
};

}  // namespace cairn
