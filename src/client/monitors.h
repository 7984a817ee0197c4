// SPDX-License-Identifier: BSD-3-Clause
//
// Monitors: the clients that said MONITOR, and the lines that show them every request.
//
// The lines of requests that different threads run are in the order of their time stamps; those of one client in the
// order in which it sent them. With nobody watching a request costs one look at a number.
//
// Thread: any; guarded by mutex_, under which ClientSession::Push is called.
#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/session.h"
#include "command/table.h"

namespace cairn {

class Monitors {
 public:
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }

  // From now on `session` is shown what is run. No-op when it is already.
  void Add(Session& session);
  void Remove(Session& session);

  // `session` has run the request.
  void Feed(const Session& session, const Command& command, std::span<const std::string_view> argv);
  // A script has called it, with `db` selected.
  void FeedCall(int db, const Command& command, std::span<const std::string_view> argv);

 private:
  void Show(int db, std::string_view who, const Command& command, std::span<const std::string_view> argv);

  std::atomic<int> count_{0};
  std::mutex mutex_;
  std::vector<Session*> watching_;
};

// "1339518083.107412 [0 127.0.0.1:60866] "GET" "k"", for the time in microseconds.
std::string MonitorLine(int64_t unix_us, int db, std::string_view peer, std::span<const std::string_view> argv);

}  // namespace cairn
