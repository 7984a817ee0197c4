// SPDX-License-Identifier: BSD-3-Clause
//
// ACL and its subcommands: users, their rules, and the log of denied accesses (acl/, client/accounts.h).
//
// They touch no rows. A change applies to the next command of every client.
#include <sys/random.h>

#include "acl/access_log.h"
#include "acl/users.h"
#include "base/clock.h"
#include "base/log.h"
#include "client/accounts.h"
#include "client/families.h"
#include "client/pubsub.h"
#include "command/access.h"
#include "command/acl_categories.h"
#include "command/help.h"
#include "command/parts.h"
#include "config/config.h"

namespace cairn {
namespace {

constexpr std::string_view kNoFile =
    "ERR This Redis instance is not configured to use an ACL file. You may want to specify users via "
    "the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis "
    "configuration file set) in order to store users in the Redis configuration.";
constexpr std::string_view kSaveFailed =
    "ERR There was an error trying to save the ACLs. Please check the server logs for more "
    "information";
constexpr std::string_view kBadBits =
    "ERR ACL GENPASS argument must be the number of bits for the output password, a positive number "
    "up to 4096";
constexpr int64_t kMostBits = 4096;
constexpr int64_t kDefaultBits = 256;
constexpr int64_t kDefaultLogEntries = 10;

Status TooMany(const Args& args) { return Status::Error(Code::kReply, errors::BadSubcommand(args[1], "ACL")); }

Status WithPrefix(std::string_view text) { return Status::Reply("ERR " + std::string(text)); }

// ACL WHOAMI
Status AclWhoAmI(CommandContext& ctx, Args&, Reply& reply) {
  reply.Bulk(ctx.session().login.user_name());
  return Ok();
}

// ACL USERS
Status AclUsers(const AclParts& parts, CommandContext&, Args&, Reply& reply) {
  const UserList users = parts.users.All();
  reply.Array(users.size());
  for (const auto& user : users) reply.Bulk(user->name());
  return Ok();
}

// ACL LIST
Status AclList(const AclParts& parts, CommandContext&, Args&, Reply& reply) {
  const std::vector<std::string> lines = parts.users.Lines();
  reply.Array(lines.size());
  for (const std::string& line : lines) reply.Bulk("user " + line);
  return Ok();
}

// ACL SETUSER username [rule [rule ...]]
Status AclSetUser(const AclParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view name = args[2];
  if (HasBlank(name)) return Status::Reply("ERR Usernames can't contain spaces or null characters");
  const Status set = parts.users.Set(name, args.all().subspan(3));
  if (!set.ok()) return WithPrefix(set.text());
  CloseSubscribersBeyondRules(parts.pubsub, {parts.users.Find(name)}, ctx.session());
  reply.Ok();
  return Ok();
}

// ACL DELUSER username [username ...]
Status AclDelUser(const AclParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  const auto names = args.all().subspan(2);
  for (const std::string_view name : names) {
    if (name == kDefaultUser) return Status::Reply("ERR The 'default' user cannot be removed");
  }
  UserList removed;
  for (const std::string_view name : names) {
    if (auto user = parts.users.Remove(name)) removed.push_back(std::move(user));
  }
  CloseClientsOf(parts.clients, removed, ctx.session());
  reply.Integer(static_cast<int64_t>(removed.size()));
  return Ok();
}

void ReplySelector(Reply& reply, const Selector& selector) {
  reply.Bulk("commands");
  reply.Bulk(selector.commands().Describe());
  reply.Bulk("keys");
  reply.Bulk(selector.DescribeKeys());
  reply.Bulk("channels");
  reply.Bulk(selector.DescribeChannels());
  reply.Bulk("databases");
  reply.Bulk(selector.DescribeDatabases());
}

// ACL GETUSER username
Status AclGetUser(const AclParts& parts, CommandContext&, Args& args, Reply& reply) {
  const auto user = parts.users.Find(args[2]);
  if (user == nullptr) {
    reply.Null();
    return Ok();
  }
  const auto rules = user->rules();
  reply.Map(7);
  reply.Bulk("flags");
  const std::vector<std::string_view> flags = rules->Flags();
  reply.Set(flags.size());
  for (const std::string_view flag : flags) reply.Bulk(flag);
  reply.Bulk("passwords");
  reply.Array(rules->passwords().size());
  for (const std::string& password : rules->passwords()) reply.Bulk(password);
  const std::vector<Selector>& selectors = rules->selectors();
  ReplySelector(reply, selectors.front());
  reply.Bulk("selectors");
  reply.Array(selectors.size() - 1);
  for (size_t i = 1; i < selectors.size(); ++i) {
    reply.Map(4);
    ReplySelector(reply, selectors[i]);
  }
  return Ok();
}

// ACL DRYRUN username command [arg [arg ...]]
Status AclDryRun(const AclParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  const auto user = parts.users.Find(args[2]);
  if (user == nullptr) return WithPrefix("User '" + std::string(args[2]) + "' not found");
  const auto argv = args.all().subspan(3);
  const Command* command = ctx.table().Resolve(argv);
  const bool is_unresolved = command != nullptr && argv.size() > 1 && command->Has(kSubcommands) &&
                             command->parent() == nullptr && command->row().run == nullptr;
  if (command == nullptr || is_unresolved) {
    return WithPrefix("Command '" + std::string(argv[0]) + "' not found");
  }
  if (!command->AcceptsArity(argv.size())) {
    return Status::Error(Code::kReply, errors::WrongArity(command->full_name()));
  }
  const Denial denial = CheckAccess(*user, ctx.session().db, *command, argv);
  if (!denial) {
    reply.Ok();
  } else {
    reply.Bulk(VerboseDenialText(denial, user->name(), DeniedObject(denial, *command, argv)));
  }
  return Ok();
}

void AppendNames(const Command& command, uint32_t category, std::vector<std::string_view>& names) {
  if (AclCategoriesOf(command) & category) names.push_back(command.full_name());
  for (const Command& child : command.subcommands()) AppendNames(child, category, names);
}

// ACL CAT [category]
Status AclCat(CommandContext& ctx, Args& args, Reply& reply) {
  if (args.size() > 3) return TooMany(args);
  std::vector<std::string_view> names;
  if (args.size() == 2) {
    names.assign(AclCategoryNames().begin(), AclCategoryNames().end());
  } else {
    const uint32_t category = AclCategoryBit(args[2]);
    if (category == 0) return WithPrefix("Unknown category '" + std::string(args[2].substr(0, 128)) + "'");
    for (uint32_t i = 0; i < ctx.table().index_count(); ++i) {
      const Command& command = *ctx.table().ByIndex(i);
      if (command.parent() == nullptr) AppendNames(command, category, names);
    }
  }
  reply.Array(names.size());
  for (const std::string_view name : names) reply.Bulk(name);
  return Ok();
}

// ACL GENPASS [bits]
Status AclGenPass(CommandContext&, Args& args, Reply& reply) {
  if (args.size() > 3) return TooMany(args);
  args.Skip(1);
  const int64_t bits = args.More() ? args.Integer() : kDefaultBits;
  TRY(args.Check());
  if (bits <= 0 || bits > kMostBits) return Status::Reply(kBadBits);
  std::string password(static_cast<size_t>((bits + 3) / 4), '\0');
  for (size_t got = 0; got < password.size();) {
    const ssize_t more = getrandom(password.data() + got, password.size() - got, 0);
    if (more > 0) got += static_cast<size_t>(more);
  }
  for (char& c : password) c = "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  reply.Bulk(password);
  return Ok();
}

std::string_view ReasonName(DenialReason reason) {
  switch (reason) {
    case DenialReason::kNone: break;
    case DenialReason::kDatabase: return "database";
    case DenialReason::kCommand: return "command";
    case DenialReason::kKey: return "key";
    case DenialReason::kChannel: return "channel";
    case DenialReason::kLogin: return "auth";
  }
  return "unknown";
}

void ReplyEntry(Reply& reply, const AccessLogEntry& entry, int64_t now_ms) {
  reply.Map(10);
  reply.Bulk("count");
  reply.Integer(static_cast<int64_t>(entry.count));
  reply.Bulk("reason");
  reply.Bulk(ReasonName(entry.reason));
  reply.Bulk("context");
  reply.Bulk(entry.in_script ? "lua" : entry.in_multi ? "multi" : "toplevel");
  reply.Bulk("object");
  reply.Bulk(entry.object);
  reply.Bulk("username");
  reply.Bulk(entry.username);
  reply.Bulk("age-seconds");
  reply.Double(static_cast<double>(now_ms - entry.updated_ms) / 1000);
  reply.Bulk("client-info");
  reply.Bulk(entry.client);
  reply.Bulk("entry-id");
  reply.Integer(static_cast<int64_t>(entry.id));
  reply.Bulk("timestamp-created");
  reply.Integer(entry.created_ms);
  reply.Bulk("timestamp-last-updated");
  reply.Integer(entry.updated_ms);
}

// ACL LOG [count | RESET]
Status AclLog(const AclParts& parts, CommandContext&, Args& args, Reply& reply) {
  if (args.size() > 3) return TooMany(args);
  args.Skip(1);
  AccessLog& log = parts.access_log;
  if (args.Keyword("reset")) {
    log.Reset();
    reply.Ok();
    return Ok();
  }
  const int64_t count = args.More() ? args.Integer() : kDefaultLogEntries;
  TRY(args.Check());
  const auto entries = log.Newest(static_cast<size_t>(std::max<int64_t>(count, 0)));
  const int64_t now_ms = WallMs();
  reply.Array(entries.size());
  for (const AccessLogEntry& entry : entries) ReplyEntry(reply, entry, now_ms);
  return Ok();
}

// ACL LOAD
Status AclLoad(const AclParts& parts, CommandContext& ctx, Args&, Reply& reply) {
  if (parts.config.Text("aclfile").empty()) return Status::Reply(kNoFile);
  const auto gone = ReloadAclFile(parts.users, parts.config);
  if (!gone.ok()) return WithPrefix(gone.status().text());
  CloseClientsOf(parts.clients, *gone, ctx.session());
  CloseSubscribersBeyondRules(parts.pubsub, parts.users.All(), ctx.session());
  reply.Ok();
  return Ok();
}

// ACL SAVE
Status AclSave(const AclParts& parts, CommandContext&, Args&, Reply& reply) {
  if (parts.config.Text("aclfile").empty()) return Status::Reply(kNoFile);
  const Status saved = SaveAclFile(parts.users, parts.config);
  if (!saved.ok()) {
    Log(LogSeverity::kWarning, "ACL SAVE: the ACL file is unchanged: {}", saved.text());
    return Status::Reply(kSaveFailed);
  }
  reply.Ok();
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "CAT [<category>]",
    "    List the categories, or the commands of one.",
    "DELUSER <username> [<username> ...]",
    "    Remove users and close their connections.",
    "DRYRUN <username> <command> [<arg> ...]",
    "    Check whether the user may run this command, without running it.",
    "GENPASS [<bits>]",
    "    Generate a random password of this many bits (default: 256).",
    "GETUSER <username>",
    "    Show the rules of a user.",
    "LIST",
    "    Show the users as lines of a configuration file.",
    "LOAD",
    "    Reload the users from the ACL file.",
    "LOG [<count> | RESET]",
    "    Show the newest denied accesses (default: 10), or clear the log.",
    "SAVE",
    "    Write the users to the ACL file.",
    "SETUSER <username> <rule> [<rule> ...]",
    "    Create or change a user.",
    "USERS",
    "    Show the names of the users.",
    "WHOAMI",
    "    Show the user of this connection.",
};

constexpr uint32_t kOpen = kNoScript | kLoading | kStale;
constexpr uint32_t kGuarded = kAdmin | kNoScript | kLoading | kStale;
constexpr auto kGroup = Group::kServer;
constexpr std::string_view kEveryNode = "request_policy:all_nodes response_policy:all_succeeded";
constexpr std::string_view kPerUser = "O(N) with N the number of users";

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "cat", .arity = -2, .flags = kOpen, .run = AclCat, .group = kGroup, .since = "6.0.0",
     .summary = "Lists the categories of commands, or the commands of one.", .complexity = "O(1)",
     .syntax = "[categoryname]"},
    {.name = "deluser", .arity = -3, .flags = kGuarded | kSlowLane, .run = With<AclDelUser>, .group = kGroup,
     .since = "6.0.0", .summary = "Removes users and closes their connections.",
     .complexity = "O(N) with N the number of connections", .syntax = "username [username ...]", .tips = kEveryNode},
    {.name = "dryrun", .arity = -4, .flags = kGuarded, .run = With<AclDryRun>, .group = kGroup, .since = "7.0.0",
     .summary = "Checks whether a user may run a command.", .complexity = "O(1)",
     .syntax = "username command [arg [arg ...]]"},
    {.name = "genpass", .arity = -2, .flags = kOpen, .run = AclGenPass, .group = kGroup, .since = "6.0.0",
     .summary = "Generates a random password.", .complexity = "O(1)", .syntax = "[bits]"},
    {.name = "getuser", .arity = 3, .flags = kGuarded, .run = With<AclGetUser>, .group = kGroup, .since = "6.0.0",
     .summary = "Returns the rules of a user.", .complexity = "O(N) with N the number of the user's rules",
     .syntax = "username"},
    {.name = "list", .arity = 2, .flags = kGuarded, .run = With<AclList>, .group = kGroup, .since = "6.0.0",
     .summary = "Returns the users as lines of a configuration file.", .complexity = kPerUser},
    {.name = "load", .arity = 2, .flags = kGuarded | kSlowLane, .run = With<AclLoad>, .group = kGroup, .since = "6.0.0",
     .summary = "Reloads the users from the ACL file.", .complexity = kPerUser},
    {.name = "log", .arity = -2, .flags = kGuarded, .run = With<AclLog>, .group = kGroup, .since = "6.0.0",
     .summary = "Returns the latest denied accesses.", .complexity = "O(N) with N the number of entries returned",
     .syntax = "[count | RESET]"},
    {.name = "save", .arity = 2, .flags = kGuarded | kSlowLane, .run = With<AclSave>, .group = kGroup, .since = "6.0.0",
     .summary = "Writes the users to the ACL file.", .complexity = kPerUser, .tips = kEveryNode},
    {.name = "setuser", .arity = -3, .flags = kGuarded | kSlowLane, .run = With<AclSetUser>, .group = kGroup,
     .since = "6.0.0", .summary = "Creates or changes a user.", .complexity = "O(N) with N the number of rules",
     .syntax = "username [rule [rule ...]]", .tips = kEveryNode},
    {.name = "users", .arity = 2, .flags = kGuarded, .run = With<AclUsers>, .group = kGroup, .since = "6.0.0",
     .summary = "Returns the names of the users.", .complexity = kPerUser},
    {.name = "whoami", .arity = 2, .flags = kOpen, .run = AclWhoAmI, .group = kGroup, .since = "6.0.0",
     .summary = "Returns the user of the connection.", .complexity = "O(1)"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kHelp>, .group = kGroup, .since = "6.0.0",
     .summary = "Describes the subcommands.", .complexity = "O(1)"},
};

constexpr CommandRow kRows[] = {
    {.name = "acl", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "6.0.0",
     .summary = "Commands about users and their permissions.", .complexity = "Depends on the subcommand.",
     .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> AclCommands() { return kRows; }

}  // namespace cairn
