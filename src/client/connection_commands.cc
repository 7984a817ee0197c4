// SPDX-License-Identifier: BSD-3-Clause
//
// The commands about a connection: PING, ECHO, AUTH, HELLO, SELECT, QUIT, RESET.
//
// They touch no rows and change only their own session. EXEC runs them once, on the slow lane, unless a second run does
// no harm (command/dispatch.cc).
#include <optional>

#include "acl/access_log.h"
#include "acl/users.h"
#include "base/number.h"
#include "base/version.h"
#include "client/accounts.h"
#include "client/client_name.h"
#include "client/families.h"
#include "client/monitors.h"
#include "client/tracking.h"
#include "client/tracking_commands.h"
#include "command/conditions.h"
#include "command/database_index.h"
#include "command/parts.h"
#include "command/waiters.h"
#include "config/settings.h"

namespace cairn {
namespace {

constexpr std::string_view kWrongPassword = "WRONGPASS invalid username-password pair or user is disabled.";
constexpr std::string_view kNoPasswordSet =
    "ERR AUTH <password> called without any password configured for the default user. Are you sure "
    "your configuration is correct?";
constexpr std::string_view kHelloNeedsAuth =
    "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH "
    "<user> <pass> option can be used to authenticate the client and select the RESP protocol "
    "version at the same time";

// PING [message]
Status Ping(CommandContext& ctx, Args& args, Reply& reply) {
  if (args.size() > 2) return Status::Error(Code::kReply, errors::WrongArity(ctx.command().full_name()));
  if (ctx.session().only_listens()) {
    reply.Array(2);
    reply.Bulk("pong");
    reply.Bulk(args.More() ? args.Bytes() : "");
  } else if (args.More()) {
    reply.Bulk(args.Bytes());
  } else {
    reply.Simple("PONG");
  }
  return Ok();
}

// ECHO message
Status Echo(CommandContext&, Args& args, Reply& reply) {
  reply.Bulk(args.Bytes());
  return Ok();
}

// Logs the session in as this user, or returns the error. `command` is the command that authenticates.
Status Authenticate(const ConnectionParts& parts, CommandContext& ctx, std::string_view command, std::string_view name,
                    std::string_view password) {
  std::shared_ptr<AclUser> user = parts.users.Find(name);
  if (user == nullptr || !user->rules()->Accepts(password)) {
    LogDenial(parts.access_log, ctx.table(), ctx.session(), DenialReason::kLogin, command, name);
    return Status::Reply(kWrongPassword);
  }
  ctx.session().set_account(std::move(user));
  ctx.session().login.authenticated = true;
  return Ok();
}

// AUTH [username] password
Status Auth(const ConnectionParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  if (args.size() > 3) return Status::Reply(errors::kSyntax);
  const bool has_user = args.size() == 3;
  const bool needs_none = parts.users.default_user()->rules()->nopass();
  if (!has_user && needs_none) return Status::Reply(kNoPasswordSet);
  const std::string_view user = has_user ? args.Bytes() : "default";
  TRY(Authenticate(parts, ctx, args[0], user, args.Bytes()));
  reply.Ok();
  return Ok();
}

void ReplyHello(const ConnectionParts& parts, CommandContext& ctx, Reply& reply) {
  reply.Map(7);
  reply.Bulk("server");
  reply.Bulk("redis");
  reply.Bulk("version");
  reply.Bulk(kRedisVersion);
  reply.Bulk("proto");
  reply.Integer(ctx.session().protocol);
  reply.Bulk("id");
  reply.Integer(static_cast<int64_t>(ctx.session().id()));
  reply.Bulk("mode");
  reply.Bulk(parts.settings.cluster_enabled ? "cluster" : "standalone");
  reply.Bulk("role");
  reply.Bulk(parts.conditions.Has(kKeepsExpired) ? "replica" : "master");
  reply.Bulk("modules");
  reply.Array(0);
}

struct HelloOptions {
  int64_t version = 0;
  std::optional<std::string_view> user;
  std::string_view password;
  std::optional<std::string_view> client_name;
};

Result<HelloOptions> ParseHello(const Session& session, Args& args) {
  HelloOptions options{.version = session.protocol};
  if (args.More()) {
    options.version = args.Integer("ERR Protocol version is not an integer or out of range");
    TRY(args.Check());
    if (options.version < 2 || options.version > 3) return Status::Reply("NOPROTO unsupported protocol version");
  }
  while (args.More()) {
    if (args.left() >= 3 && args.Keyword("auth")) {
      options.user = args.Bytes();
      options.password = args.Bytes();
    } else if (args.left() >= 2 && args.Keyword("setname")) {
      options.client_name = args.Bytes();
      TRY(CheckClientName(*options.client_name));
    } else {
      return Status::Error(Code::kReply, "ERR Syntax error in HELLO option '" + std::string(args.Peek()) + "'");
    }
  }
  return options;
}

// HELLO [protover [AUTH username password] [SETNAME clientname]]
Status Hello(const ConnectionParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  Session& session = ctx.session();
  const HelloOptions options = TRY(ParseHello(session, args));
  if (options.user) TRY(Authenticate(parts, ctx, args[0], *options.user, options.password));
  if (!session.login.authenticated) return Status::Reply(kHelloNeedsAuth);
  if (options.client_name) TRY(SetClientName(session, *options.client_name));
  session.protocol = static_cast<int>(options.version);
  reply.set_protocol(session.protocol);
  ReplyHello(parts, ctx, reply);
  return Ok();
}

// SELECT index
Status Select(CommandContext& ctx, Args& args, Reply& reply) {
  ctx.session().db = TRY(ParseDatabase(ctx, args));
  reply.Ok();
  return Ok();
}

// QUIT
Status Quit(CommandContext& ctx, Args&, Reply& reply) {
  ctx.session().close = CloseRequest::kAfterReply;
  reply.Ok();
  return Ok();
}

// RESET
Status Reset(const ConnectionParts& parts, CommandContext& ctx, Args&, Reply& reply) {
  Session& session = ctx.session();
  session.multi = MultiState();
  session.ShowQueued();
  ctx.waiters().Unwatch(session);
  session.db = 0;
  session.subscriptions.RemoveAll();
  parts.monitors.Remove(session);
  EndTracking(parts.tracking, session);
  session.protocol = 2;
  reply.set_protocol(2);
  session.reply_mode = ReplyMode::kOn;
  session.no_touch = false;
  session.no_evict = false;
  session.redirection.reads_replica = false;
  session.set_account(parts.users.default_user());
  session.login.authenticated = session.login.account->is_open();
  TRY(SetClientName(session, ""));
  reply.Simple("RESET");
  return Ok();
}

constexpr uint32_t kHandshake = kNoScript | kLoading | kStale | kFast | kNoAuth | kAllowBusy;

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "ping", .arity = -1, .flags = kFast | kForListener, .run = Ping, .group = Group::kConnection,
     .since = "1.0.0", .summary = "Replies PONG, or the message.", .complexity = "O(1)", .syntax = "[message]",
     .tips = "request_policy:all_shards response_policy:all_succeeded"},
    {.name = "echo", .arity = 2, .flags = kLoading | kStale | kFast, .run = Echo, .group = Group::kConnection,
     .since = "1.0.0", .summary = "Replies the message.", .complexity = "O(1)", .syntax = "message"},
    {.name = "auth", .arity = -2, .flags = kHandshake, .run = With<Auth>, .group = Group::kConnection, .since = "1.0.0",
     .summary = "Authenticates the client.", .complexity = "O(N) with N the number of the user's passwords",
     .syntax = "[username] password"},
    {.name = "hello", .arity = -1, .flags = kHandshake, .run = With<Hello>, .group = Group::kConnection,
     .since = "6.0.0", .summary = "Selects the protocol, and may authenticate and name the client.",
     .complexity = "O(1)", .syntax = "[protover [AUTH username password] [SETNAME clientname]]"},
    {.name = "select", .arity = 2, .flags = kLoading | kStale | kFast, .run = Select, .group = Group::kConnection,
     .since = "1.0.0", .summary = "Selects the database for later commands.", .complexity = "O(1)", .syntax = "index"},
    {.name = "quit", .arity = -1, .flags = kHandshake | kNotQueued | kForListener, .run = Quit,
     .group = Group::kConnection, .since = "1.0.0", .summary = "Closes the connection.", .complexity = "O(1)"},
    {.name = "reset", .arity = 1, .flags = kHandshake | kNotQueued | kForListener, .run = With<Reset>,
     .group = Group::kConnection, .since = "6.2.0", .summary = "Resets the connection to its initial state.",
     .complexity = "O(1)"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ConnectionCommands() { return kRows; }

}  // namespace cairn
