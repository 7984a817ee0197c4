// SPDX-License-Identifier: BSD-3-Clause
//
// BusyScripts: whether a script or function has been running for longer than `busy-reply-threshold`. While it is, all
// commands but the few that help get the error BUSY.
//
// Thread: any.
#pragma once

#include <atomic>
#include <string_view>

namespace cairn {

class BusyScripts {
 public:
  bool any() const { return scripts_.load(std::memory_order_relaxed) + functions_.load(std::memory_order_relaxed) > 0; }
  void Begin(bool is_function) { (is_function ? functions_ : scripts_).fetch_add(1); }
  void End(bool is_function) { (is_function ? functions_ : scripts_).fetch_sub(1); }

  static constexpr std::string_view kByScript =
      "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
  static constexpr std::string_view kByFunction =
      "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.";
  // The error reply.
  std::string_view refusal() const { return scripts_.load(std::memory_order_relaxed) > 0 ? kByScript : kByFunction; }

 private:
  std::atomic<int> scripts_{0};
  std::atomic<int> functions_{0};
};

}  // namespace cairn
