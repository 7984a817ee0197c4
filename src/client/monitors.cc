// SPDX-License-Identifier: BSD-3-Clause
//
// This file also has the command MONITOR, which needs nothing else.
#include "client/monitors.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/words.h"
#include "client/client_session.h"
#include "client/families.h"
#include "client/redact.h"
#include "command/parts.h"
#include "config/allowed.h"

namespace cairn {
namespace {

// MONITOR
Status Monitor(Monitors& monitors, CommandContext& ctx, Args&, Reply& reply) {
  if (ctx.session().multi.active) {
    return Status::Reply("ERR MONITOR isn't allowed for DENY BLOCKING client");
  }
  monitors.Add(ctx.session());
  reply.Ok();
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "monitor", .arity = 1, .flags = kAdmin | kNoScript | kLoading | kStale, .run = With<Monitor>,
     .group = Group::kServer, .since = "1.0.0", .summary = "Shows every request that the server runs.",
     .complexity = "O(1)"},
};
// clang-format on

}  // namespace

void Monitors::Add(Session& session) {
  const MutexLock lock(mutex_);
  if (session.is_monitor.exchange(true)) return;
  watching_.push_back(&session);
  ++count_;
}

void Monitors::Remove(Session& session) {
  if (!session.is_monitor) return;
  const MutexLock lock(mutex_);
  session.is_monitor = false;
  std::erase(watching_, &session);
  --count_;
}

void Monitors::Feed(const Session& session, const Command& command, std::span<const std::string_view> argv) {
  // A command that runs a script is shown, before the script's calls.
  if ((command.Has(kSkipMonitor) && !command.Has(kRunsScript)) || command.Has(kAdmin)) return;
  Show(session.db, session.socket.peer, command, argv);
}

void Monitors::FeedCall(int db, const Command& command, std::span<const std::string_view> argv) {
  if (!command.Has(kSkipMonitor) && !command.Has(kAdmin)) Show(db, "lua", command, argv);
}

void Monitors::FeedCallsNotShown(int db, const Command& command, uint64_t count) {
  const std::string more = fmt::format("more calls: {}", count);
  const std::string_view words[] = {"...", more};
  Show(db, "lua", command, words);
}

void Monitors::Show(int db, std::string_view who, const Command& command, std::span<const std::string_view> argv) {
  const std::vector<std::string_view> shown = RedactSecrets(command, argv);
  const MutexLock lock(mutex_);
  const std::string line = "+" + MonitorLine(WallUs(), db, who, shown) + "\r\n";
  for (Session* watching : watching_) static_cast<ClientSession*>(watching)->Push(line);
}

std::string MonitorLine(int64_t unix_us, int db, std::string_view peer, std::span<const std::string_view> argv) {
  std::string line = fmt::format("{}.{:06} [{} ", unix_us / 1000000, unix_us % 1000000, db);
  // A client on a Unix socket is shown by its path, without the ":0" of a port.
  if (IsUnixPeer(peer)) line.append("unix:");
  line.append(IsUnixPeer(peer) ? peer.substr(0, peer.rfind(':')) : peer).append("]");
  for (const std::string_view arg : argv) line.append(" ").append(QuoteWord(arg));
  return line;
}

std::span<const CommandRow> MonitorCommands() { return kRows; }

}  // namespace cairn
