// SPDX-License-Identifier: BSD-3-Clause
//
// Monitors: the clients in MONITOR mode, and the lines that show them every request.
//
// Lines of requests from different threads are ordered by their time stamps, and those of one client by the order of
// its requests. Without a monitor, a request costs one load of a number.
//
// Thread: any; guarded by mutex_, under which ClientSession::Push is called.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "command/session.h"
#include "command/table.h"

namespace cairn {

class Monitors {
 public:
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }

  // Shows `session` all requests from now on. No-op if it is a monitor already.
  void Add(Session& session);
  void Remove(Session& session);

  // Shows a request that `session` has run.
  void Feed(const Session& session, const Command& command, std::span<const std::string_view> argv);
  // Shows a command that a script has called, with `db` selected.
  void FeedCall(int db, const Command& command, std::span<const std::string_view> argv);
  // Shows that the scripts of `command` made so many more calls, which are not shown.
  void FeedCallsNotShown(int db, const Command& command, uint64_t count);

 private:
  void Show(int db, std::string_view who, const Command& command, std::span<const std::string_view> argv);

  std::atomic<int> count_{0};
  Mutex mutex_;
  std::vector<Session*> watching_ ABSL_GUARDED_BY(mutex_);
};

// Returns "1339518083.107412 [0 127.0.0.1:60866] "GET" "k""; the time is in microseconds.
std::string MonitorLine(int64_t unix_us, int db, std::string_view peer, std::span<const std::string_view> argv);

}  // namespace cairn
