// SPDX-License-Identifier: BSD-3-Clause
//
// CLIENT and its subcommands: list clients, close and unblock them, set their options.
//
// They touch no rows. A command that acts on another client sets a request in its session (close, unblock) and wakes
// the thread that owns its connection.
#include "acl/users.h"
#include "base/clock.h"
#include "base/number.h"
#include "client/client_filter.h"
#include "client/client_line.h"
#include "client/client_memory.h"
#include "client/client_name.h"
#include "client/client_pause.h"
#include "client/client_registry.h"
#include "client/families.h"
#include "client/tracking_commands.h"
#include "command/help.h"
#include "command/parts.h"
#include "config/settings.h"

namespace cairn {
namespace {

// CLIENT ID
Status ClientId(CommandContext& ctx, Args&, Reply& reply) {
  reply.Integer(static_cast<int64_t>(ctx.session().id()));
  return Ok();
}

// CLIENT GETNAME
Status ClientGetName(CommandContext& ctx, Args&, Reply& reply) {
  Session& session = ctx.session();
  const MutexLock lock(session.mutex());
  if (session.names.name.empty()) {
    reply.Null();
  } else {
    reply.Bulk(session.names.name);
  }
  return Ok();
}

// CLIENT SETNAME connection-name
Status ClientSetName(CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  TRY(SetClientName(ctx.session(), args.Bytes()));
  reply.Ok();
  return Ok();
}

// CLIENT SETINFO <LIB-NAME libname | LIB-VER libver>
Status ClientSetInfo(CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  Session& session = ctx.session();
  const std::string attribute(args.Bytes());
  const std::string_view value = args.Bytes();
  const bool is_name = EqualsIgnoreCase(attribute, "lib-name");
  if (!is_name && !EqualsIgnoreCase(attribute, "lib-ver")) {
    return Status::Error(Code::kReply, "ERR Unrecognized option '" + attribute + "'");
  }
  if (!IsCleanName(value)) {
    return Status::Error(Code::kReply, "ERR " + attribute + " cannot contain spaces, newlines or special characters.");
  }
  const MutexLock lock(session.mutex());
  std::string& text = is_name ? session.names.lib_name : session.names.lib_version;
  session.memory.listed_bytes += value.size() - text.size();
  text = value;
  reply.Ok();
  return Ok();
}

// CLIENT INFO
Status ClientInfo(CommandContext& ctx, Args&, Reply& reply) {
  reply.Verbatim("txt", ClientLine(ctx.session(), ctx.table(), MonotonicUs()) + "\n");
  return Ok();
}

FilterContext ContextOf(const ClientParts& parts) { return {parts.users, parts.settings.databases}; }

// CLIENT LIST [option value ...]
Status ClientList(const ClientParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  const ClientFilter filter = TRY(ParseListFilter(args, ContextOf(parts)));
  const int64_t now_us = MonotonicUs();
  std::string lines;
  for (const auto& session : parts.clients.All()) {
    const bool is_gone = session->close == CloseRequest::kNow && session.get() != &ctx.session();
    if (!is_gone && filter.Matches(*session, ctx.session().id(), now_us)) {
      lines.append(ClientLine(*session, ctx.table(), now_us)).append("\n");
    }
  }
  reply.Verbatim("txt", lines);
  return Ok();
}

// The link to the primary is no session, but Redis has a client for it, with the primary's address.
bool MeansPrimary(const ClientFilter& filter) {
  if (filter.excluded.type == ClientType::kPrimary) return false;
  return filter.required.type == ClientType::kPrimary || (!filter.required.type && filter.required.peer);
}

// Closes every client that matches the filter; the caller's own connection closes after its reply.
int64_t KillMatching(const ClientParts& parts, CommandContext& ctx, const ClientFilter& filter) {
  int64_t killed = 0;
  if (MeansPrimary(filter) && parts.break_primary_link(filter.required.peer.value_or(""))) ++killed;
  const uint64_t my_id = ctx.session().id();
  const int64_t now_us = MonotonicUs();
  for (const auto& session : parts.clients.All()) {
    if (!filter.Matches(*session, my_id, now_us)) continue;
    ++killed;
    if (session->id() == my_id) {
      session->close = CloseRequest::kAfterReply;
    } else {
      session->close = CloseRequest::kNow;
      session->Wake();
    }
  }
  return killed;
}

// CLIENT KILL <ip:port | option value [option value ...]>
Status ClientKill(const ClientParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  if (args.left() == 1) {  // the old syntax
    ClientFilter filter{.skip_me = false};
    filter.required.peer = args.Bytes();
    if (KillMatching(parts, ctx, filter) == 0) return Status::Reply("ERR No such client");
    reply.Ok();
    return Ok();
  }
  const ClientFilter filter = TRY(ParseKillFilter(args, ContextOf(parts)));
  reply.Integer(KillMatching(parts, ctx, filter));
  return Ok();
}

// CLIENT CAPA capability [capability ...]: unknown ones are ignored.
Status ClientCapa(CommandContext& ctx, Args& args, Reply& reply) {
  for (args.Skip(1); args.More();) {
    if (EqualsIgnoreCase(args.Bytes(), "redirect")) ctx.session().redirection.is_followed = true;
  }
  reply.Ok();
  return Ok();
}

// CLIENT REPLY <ON | OFF | SKIP>: only ON gets a reply.
Status ClientReply(CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  ReplyMode& mode = ctx.session().reply_mode;
  if (args.Keyword("on")) {
    mode = ReplyMode::kOn;
    reply.Ok();
  } else if (args.Keyword("off")) {
    mode = ReplyMode::kOff;
  } else if (args.Keyword("skip")) {
    if (mode != ReplyMode::kOff) mode = ReplyMode::kSkipNext;
  } else {
    return Status::Reply(errors::kSyntax);
  }
  return Ok();
}

Status SetSwitch(Args& args, std::atomic<bool>& target, Reply& reply) {
  args.Skip(1);
  const bool on = args.Keyword("on");
  if (!on && !args.Keyword("off")) return Status::Reply(errors::kSyntax);
  target = on;
  reply.Ok();
  return Ok();
}

// CLIENT NO-EVICT <ON | OFF>
Status ClientNoEvict(const ClientParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  TRY(SetSwitch(args, ctx.session().no_evict, reply));
  parts.memory.Reconsider();
  return Ok();
}

// CLIENT NO-TOUCH <ON | OFF>
Status ClientNoTouch(CommandContext& ctx, Args& args, Reply& reply) {
  return SetSwitch(args, ctx.session().no_touch, reply);
}

// CLIENT UNBLOCK client-id [TIMEOUT | ERROR]
Status ClientUnblock(const ClientParts& parts, CommandContext&, Args& args, Reply& reply) {
  if (args.size() > 4) return Status::Error(Code::kReply, errors::BadSubcommand(args[1], "CLIENT"));
  args.Skip(1);
  const std::string_view id_text = args.Bytes();
  UnblockRequest request = UnblockRequest::kTimeout;
  if (args.Keyword("error")) {
    request = UnblockRequest::kError;
  } else if (args.More() && !args.Keyword("timeout")) {
    return Status::Reply("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
  }
  const auto id = ParseInt64(id_text);
  if (!id) return Status::Reply(errors::kNotAnInteger);
  const auto session = parts.clients.Find(static_cast<uint64_t>(*id));
  const bool blocked = session != nullptr && session->blocking.is_blocked;
  if (blocked) session->Unblock(request);
  reply.Integer(blocked ? 1 : 0);
  return Ok();
}

// CLIENT PAUSE timeout [WRITE | ALL]
Status ClientPauseCommand(const ClientParts& parts, CommandContext&, Args& args, Reply& reply) {
  if (args.size() > 4) return Status::Error(Code::kReply, errors::BadSubcommand(args[1], "CLIENT"));
  args.Skip(1);
  const std::string_view timeout_text = args.Bytes();
  ClientPause::Mode mode = ClientPause::Mode::kAll;
  if (args.Keyword("write")) {
    mode = ClientPause::Mode::kWrites;
  } else if (args.More() && !args.Keyword("all")) {
    return Status::Reply("ERR CLIENT PAUSE mode must be WRITE or ALL");
  }
  const auto timeout_ms = ParseInt64(timeout_text);
  if (!timeout_ms) return Status::Reply("ERR timeout is not an integer or out of range");
  if (*timeout_ms < 0) return Status::Reply("ERR timeout is negative");
  const int64_t now_ms = MonotonicMs();
  if (*timeout_ms > INT64_MAX - now_ms) return Status::Reply("ERR timeout is out of range");
  parts.pause.Begin(ClientPause::Purpose::kCommand, mode, now_ms, now_ms + *timeout_ms);
  reply.Ok();
  return Ok();
}

// CLIENT UNPAUSE
Status ClientUnpause(const ClientParts& parts, CommandContext&, Args&, Reply& reply) {
  parts.pause.End(ClientPause::Purpose::kCommand);
  reply.Ok();
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "CACHING <YES | NO>",
    "    Set whether the keys of the next command are tracked, in OPTIN and OPTOUT mode.",
    "CAPA <capability> [<capability> ...]",
    "    Announce what this client can do. REDIRECT: a replica refers it to its primary.",
    "GETNAME",
    "    Show the name of this connection.",
    "GETREDIR",
    "    Show the client that gets the invalidation messages; -1: none.",
    "ID",
    "    Show the id of this connection.",
    "INFO",
    "    Show the line of LIST for this connection.",
    "KILL <ip:port>",
    "    Close the connection from this address.",
    "KILL <option> <value> [<option> <value> ...]",
    "    Close connections: ADDR and LADDR <ip:port>, IP <ip>, ID <id> [<id> ...], TYPE <type>,",
    "    USER <name>, NAME <name>, LIB-NAME <name>, LIB-VER <version>, DB <db>, FLAGS <letters>,",
    "    CAPA <letters>, each also with NOT- before it; MAXAGE <seconds> of an older connection,",
    "    IDLE <seconds>, SKIPME <yes | no> whether to keep this connection (default: yes).",
    "LIST [<option> <value> [<option> <value> ...]]",
    "    Show a line for every connection, or for those that the options of KILL select",
    "    (SKIPME: no).",
    "NO-EVICT <ON | OFF>",
    "    Never close this connection because of maxmemory-clients.",
    "NO-TOUCH <ON | OFF>",
    "    Do not count reads of this connection as accesses to keys.",
    "PAUSE <milliseconds> [WRITE | ALL]",
    "    Hold back all commands of clients, or only writes.",
    "REPLY <ON | OFF | SKIP>",
    "    Set whether this connection gets replies.",
    "SETINFO <LIB-NAME | LIB-VER> <value>",
    "    Set the name or version of the client's library.",
    "SETNAME <name>",
    "    Name this connection.",
    "TRACKING <ON | OFF> [REDIRECT <id>] [BCAST] [PREFIX <prefix> ...] [OPTIN | OPTOUT] [NOLOOP]",
    "    Send invalidation messages for keys that this connection has read.",
    "TRACKINGINFO",
    "    Show the options of TRACKING.",
    "UNBLOCK <id> [TIMEOUT | ERROR]",
    "    Unblock a client that waits in a blocking command.",
    "UNPAUSE",
    "    End a pause.",
};

constexpr uint32_t kOwn = kNoScript | kLoading | kStale;
constexpr uint32_t kOthers = kAdmin | kNoScript | kLoading | kStale;
constexpr auto kGroup = Group::kConnection;

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "id", .arity = 2, .flags = kOwn, .run = ClientId, .group = kGroup, .since = "5.0.0",
     .summary = "Returns the id of the connection.", .complexity = "O(1)"},
    {.name = "getname", .arity = 2, .flags = kOwn, .run = ClientGetName, .group = kGroup, .since = "2.6.9",
     .summary = "Returns the name of the connection.", .complexity = "O(1)"},
    {.name = "setname", .arity = 3, .flags = kOwn, .run = ClientSetName, .group = kGroup, .since = "2.6.9",
     .summary = "Names the connection.", .complexity = "O(1)", .syntax = "connection-name",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
    {.name = "setinfo", .arity = 4, .flags = kOwn, .run = ClientSetInfo, .group = kGroup, .since = "7.2.0",
     .summary = "Sets the name or version of the client's library.", .complexity = "O(1)",
     .syntax = "<LIB-NAME libname | LIB-VER libver>", .tips = "request_policy:all_nodes response_policy:all_succeeded"},
    {.name = "info", .arity = 2, .flags = kOwn, .run = ClientInfo, .group = kGroup, .since = "6.2.0",
     .summary = "Returns a line about the connection.", .complexity = "O(1)", .tips = "nondeterministic_output"},
    {.name = "list", .arity = -2, .flags = kOthers, .run = With<ClientList>, .group = kGroup, .since = "2.4.0",
     .summary = "Returns a line about each connection.", .complexity = "O(N) with N the number of connections",
     .syntax = "[TYPE <NORMAL | MASTER | PRIMARY | SLAVE | REPLICA | PUBSUB>] [ID client-id [client-id ...]] [USER "
               "username] [ADDR ip:port] [LADDR ip:port] [SKIPME <YES | NO>] [MAXAGE maxage] [NAME name] [IDLE idle] "
               "[FLAGS flags] [LIB-NAME lib-name] [LIB-VER lib-ver] [DB db] [CAPA capa] [IP ip] [NOT-TYPE <NORMAL | "
               "MASTER | PRIMARY | SLAVE | REPLICA | PUBSUB>] [NOT-ID not-client-id [not-client-id ...]] [NOT-USER "
               "not-username] [NOT-ADDR ip:port] [NOT-LADDR ip:port] [NOT-NAME not-name] [NOT-FLAGS not-flags] "
               "[NOT-LIB-NAME not-lib-name] [NOT-LIB-VER not-lib-ver] [NOT-DB not-db] [NOT-CAPA not-capa] [NOT-IP "
               "not-ip]",
     .tips = "nondeterministic_output"},
    {.name = "kill", .arity = -3, .flags = kOthers, .run = With<ClientKill>, .group = kGroup, .since = "2.4.0",
     .summary = "Closes connections.", .complexity = "O(N) with N the number of connections",
     .syntax = "<ip:port | <ID client-id [client-id ...] | TYPE <NORMAL | MASTER | PRIMARY | SLAVE | REPLICA | PUBSUB> "
               "| USER username | ADDR ip:port | LADDR ip:port | SKIPME <YES | NO> | MAXAGE maxage | NAME name | IDLE "
               "idle | FLAGS flags | LIB-NAME lib-name | LIB-VER lib-ver | DB db | CAPA capa | IP ip | NOT-TYPE "
               "<NORMAL | MASTER | PRIMARY | SLAVE | REPLICA | PUBSUB> | NOT-ID not-client-id [not-client-id ...] | "
               "NOT-USER not-username | NOT-ADDR ip:port | NOT-LADDR ip:port | NOT-NAME not-name | NOT-FLAGS "
               "not-flags | NOT-LIB-NAME not-lib-name | NOT-LIB-VER not-lib-ver | NOT-DB not-db | NOT-CAPA not-capa | "
               "NOT-IP not-ip> [...]>"},
    {.name = "capa", .arity = -3, .flags = kOwn | kAllowBusy, .run = ClientCapa, .group = kGroup, .since = "8.0.0",
     .summary = "Announces what the client can do.", .complexity = "O(1)", .syntax = "capability [capability ...]"},
    {.name = "reply", .arity = 3, .flags = kOwn, .run = ClientReply, .group = kGroup, .since = "3.2.0",
     .summary = "Sets whether the connection gets replies.", .complexity = "O(1)", .syntax = "<ON | OFF | SKIP>"},
    {.name = "no-evict", .arity = 3, .flags = kOthers, .run = With<ClientNoEvict>, .group = kGroup, .since = "7.0.0",
     .summary = "Sets whether maxmemory-clients may close the connection.", .complexity = "O(1)",
     .syntax = "<ON | OFF>"},
    {.name = "no-touch", .arity = 3, .flags = kOwn, .run = ClientNoTouch, .group = kGroup, .since = "7.2.0",
     .summary = "Sets whether reads of the connection count as accesses to keys.", .complexity = "O(1)",
     .syntax = "<ON | OFF>"},
    {.name = "unblock", .arity = -3, .flags = kOthers, .run = With<ClientUnblock>, .group = kGroup, .since = "5.0.0",
     .summary = "Unblocks a client that waits in a blocking command.",
     .complexity = "O(log N) with N the number of connections", .syntax = "client-id [TIMEOUT | ERROR]"},
    {.name = "pause", .arity = -3, .flags = kOthers, .run = With<ClientPauseCommand>, .group = kGroup,
     .since = "2.9.50", .summary = "Holds back the commands of clients for a time.", .complexity = "O(1)",
     .syntax = "timeout [WRITE | ALL]"},
    {.name = "unpause", .arity = 2, .flags = kOthers, .run = With<ClientUnpause>, .group = kGroup, .since = "6.2.0",
     .summary = "Ends a pause.", .complexity = "O(N) with N the number of connections"},
    {.name = "getredir", .arity = 2, .flags = kOwn, .run = ClientGetRedir, .group = kGroup, .since = "6.0.0",
     .summary = "Returns the client that gets the invalidation messages.", .complexity = "O(1)"},
    {.name = "tracking", .arity = -3, .flags = kOwn, .run = With<ClientTracking>, .group = kGroup, .since = "6.0.0",
     .summary = "Sends invalidation messages when keys that the client has read change.",
     .complexity = "O(1), or with BCAST O(N) with N the prefixes",
     .syntax = "<ON | OFF> [REDIRECT client-id:integer] [PREFIX prefix [PREFIX prefix ...]] [BCAST] [OPTIN] [OPTOUT] "
               "[NOLOOP]"},
    {.name = "trackinginfo", .arity = 2, .flags = kOwn, .run = With<ClientTrackingInfo>, .group = kGroup,
     .since = "6.2.0", .summary = "Returns how the connection tracks keys.", .complexity = "O(1)"},
    {.name = "caching", .arity = 3, .flags = kOwn, .run = ClientCaching, .group = kGroup, .since = "6.0.0",
     .summary = "Sets whether the keys of the next command are tracked.", .complexity = "O(1)", .syntax = "<YES | NO>"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kHelp>, .group = kGroup, .since = "5.0.0",
     .summary = "Describes the subcommands.", .complexity = "O(1)"},
};

constexpr CommandRow kRows[] = {
    {.name = "client", .arity = -2, .flags = kSubcommands | kKeepsCaching, .group = kGroup, .since = "2.4.0",
     .summary = "Commands about connections.", .complexity = "Depends on the subcommand.",
     .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ClientCommands() { return kRows; }

}  // namespace cairn
