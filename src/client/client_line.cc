// SPDX-License-Identifier: BSD-3-Clause
#include "client/client_line.h"

#include <vector>

#include "base/number.h"
#include "config/allowed.h"

namespace cairn {
namespace {

class FieldWriter {
 public:
  FieldWriter& Add(std::string_view name, std::string_view text) {
    if (!line_.empty()) line_.push_back(' ');
    line_.append(name).append("=").append(text);
    return *this;
  }
  FieldWriter& Add(std::string_view name, int64_t number) { return Add(name, std::to_string(number)); }
  std::string Take() { return std::move(line_); }

 private:
  std::string line_;
};

// Redis keeps the first bytes of a reply in the client (obl), and the rest in a list of blocks (oll, omem). Cairn keeps
// replies in one buffer, and shows the bytes beyond one block as the list.
constexpr uint64_t kReplyBlockBytes = 16 * 1024;

std::string_view LastCommand(const Session& session, const CommandTable& table) {
  const Command* command = table.ByIndex(session.activity.last_command);
  return command == nullptr ? std::string_view("NULL") : std::string_view(command->full_name());
}

}  // namespace

std::string ClientFlags(const Session& session) {
  std::string flags;
  if (session.is_monitor) flags.push_back('O');
  if (session.is_replica) flags.push_back('S');
  if (session.is_subscriber()) flags.push_back('P');
  if (session.blocking.is_blocked || session.paused_until_us != 0) flags.push_back('b');
  if (session.shown.queued >= 0) flags.push_back('x');
  if (session.shown.tracking & kShowsTracking) flags.push_back('t');
  if (session.shown.tracking & kShowsBrokenRedirect) flags.push_back('R');
  if (session.shown.tracking & kShowsBroadcast) flags.push_back('B');
  if (session.watch.broken) flags.push_back('d');
  if (session.close == CloseRequest::kAfterReply) flags.push_back('c');
  if (session.close == CloseRequest::kNow) flags.push_back('A');
  if (IsUnixPeer(session.socket.peer)) flags.push_back('U');
  if (session.no_evict) flags.push_back('e');
  if (session.no_touch) flags.push_back('T');
  return flags.empty() ? "N" : flags;
}

std::string_view ClientCapabilities(const Session& session) { return session.redirection.is_followed ? "r" : ""; }

std::string ClientLine(Session& session, const CommandTable& table, int64_t now_us) {
  const uint64_t query_bytes = session.memory.query_buffer_bytes;
  const uint64_t used_bytes = query_bytes + session.memory.argument_bytes;
  const uint64_t query_capacity = session.memory.query_buffer_capacity;
  const uint64_t output_bytes = session.memory.output_bytes;
  const uint64_t output_capacity = session.memory.output_capacity;
  const uint64_t listed_bytes = output_bytes - std::min(output_bytes, kReplyBlockBytes);
  const bool closing = session.close != CloseRequest::kNone;
  const auto subscriptions = [&session](ChannelKind kind) {
    return static_cast<int64_t>(session.shown.subscriptions[static_cast<size_t>(kind)]);
  };
  const MutexLock lock(session.mutex());
  FieldWriter line;
  line.Add("id", static_cast<int64_t>(session.id()))
      .Add("addr", session.socket.peer)
      .Add("laddr", session.socket.local)
      .Add("fd", session.socket.fd)
      .Add("name", session.names.name)
      .Add("age", (now_us - session.activity.created_us) / 1000000)
      .Add("idle", (now_us - session.activity.last_active_us) / 1000000)
      .Add("flags", ClientFlags(session))
      .Add("db", session.db)
      .Add("sub", subscriptions(ChannelKind::kChannel))
      .Add("psub", subscriptions(ChannelKind::kPattern))
      .Add("ssub", subscriptions(ChannelKind::kShard))
      .Add("multi", session.shown.queued)
      .Add("qbuf", static_cast<int64_t>(query_bytes))
      .Add("qbuf-free", static_cast<int64_t>(query_capacity - std::min(used_bytes, query_capacity)))
      .Add("argv-mem", static_cast<int64_t>(session.memory.argument_bytes))
      .Add("multi-mem", static_cast<int64_t>(session.memory.queued_bytes))
      .Add("rbs", static_cast<int64_t>(output_capacity))
      .Add("rbp", static_cast<int64_t>(output_capacity))
      .Add("obl", static_cast<int64_t>(output_bytes - listed_bytes))
      .Add("oll", static_cast<int64_t>((listed_bytes + kReplyBlockBytes - 1) / kReplyBlockBytes))
      .Add("omem", static_cast<int64_t>(listed_bytes))
      .Add("tot-mem", static_cast<int64_t>(session.memory_bytes()))
      .Add("events", closing            ? ""
                     : output_bytes > 0 ? "rw"
                                        : "r")
      .Add("cmd", LastCommand(session, table))
      .Add("user", session.login.user_name())
      .Add("redir", session.shown.redirect)
      .Add("resp", session.shown.protocol)
      .Add("capa", ClientCapabilities(session))  // Valkey has it before `db`, where Redis's clients expect nothing
      .Add("lib-name", session.names.lib_name)
      .Add("lib-ver", session.names.lib_version)
      .Add("tot-net-in", static_cast<int64_t>(session.activity.read_bytes))
      .Add("tot-net-out", static_cast<int64_t>(session.activity.written_bytes))
      .Add("tot-cmds", static_cast<int64_t>(session.activity.commands));
  return line.Take();
}

}  // namespace cairn
