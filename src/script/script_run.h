// SPDX-License-Identifier: BSD-3-Clause
//
// ScriptRun: one run of a script or a function, from its first instruction to its reply.
//
// A run is a command, so it may start over. `stop` has the reason why it must end early: kWouldWait, if a command in it
// would have to wait or the run takes too long for the fast lane; or SCRIPT KILL. Lua's pcall does not catch that.
// Effects outside the transaction, log lines and counts, are deferred to its end.
//
// Thread: that of the worker; `wants` any.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "command/context.h"

namespace cairn {

class Scripting;

struct ScriptRun {
  using LogLine = std::pair<LogSeverity, std::string>;
  static constexpr size_t kMostLogBytes = 1 << 20;

  ScriptRun(CommandContext& context, Scripting& owner, std::string_view named, std::span<const std::string_view> said,
            bool function)
      : ctx(context), scripting(owner), name(named), argv(said), is_function(function),
        pending_before(pending_bytes()) {}

  // The memory of what waits for the commit: changes and messages, also those of commands before the run.
  size_t pending_bytes() const { return ctx.txn().batch().bytes() + ctx.txn().notifications().bytes(); }

  CommandContext& ctx;
  Scripting& scripting;
  const std::string_view name;  // the function's name, or the script's SHA-1
  const std::span<const std::string_view> argv;
  const bool is_function;
  const size_t pending_before;  // pending_bytes() when the run began
  bool read_only = false;
  bool crosses_slots = false;  // on a node of a cluster, its keys may be in several slots
  int slot = -1;               // else that of its keys, once one is known
  bool allow_oom = false;      // its commands may add data beyond the limit
  int protocol = 2;            // the protocol of replies to the script (redis.setresp)
  bool replicates = true;      // whether its commands are replicated (redis.set_repl)
  bool has_written = false;    // it called a write command, so it cannot be killed
  Status stop;
  int64_t started_us = 0;  // monotonic
  uint64_t steps = 0;      // on the fast lane
  bool is_busy = false;    // other clients get BUSY
  std::vector<LogLine> log;
  size_t log_bytes = 0;     // of `log`; at most kMostLogBytes
  bool log_is_cut = false;  // bytes beyond kMostLogBytes were dropped
  std::vector<uint32_t> scratch;
};

}  // namespace cairn
