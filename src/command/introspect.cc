// SPDX-License-Identifier: BSD-3-Clause
//
// COMMAND: information about the server's own commands. All of it comes from the table's rows; command_replies.cc has
// the format of the replies.
#include <string>

#include "base/glob.h"
#include "command/acl_categories.h"
#include "command/command_replies.h"
#include "command/context.h"
#include "command/families.h"
#include "command/help.h"

namespace cairn {
namespace {

// Finds a command by its full name ("get", "config|get"); null if there is none.
const Command* FindByFullName(const CommandTable& table, std::string_view name) {
  const size_t bar = name.find('|');
  const Command* command = table.Find(name.substr(0, bar));
  if (bar == std::string_view::npos || command == nullptr) return command;
  for (const Command& child : command->subcommands()) {
    if (EqualsIgnoreCase(child.row().name, name.substr(bar + 1))) return &child;
  }
  return nullptr;
}

// Returns the command of the next argument; null if there is none. Its description takes a step, and so do those of its
// subcommands.
Result<const Command*> NextByName(CommandContext& ctx, Args& args) {
  const Command* command = FindByFullName(ctx.table(), args.Bytes());
  TRY(ctx.txn().command().Spend(command == nullptr ? 1 : 1 + command->subcommands().size()));
  return command;
}

// COMMAND, and COMMAND INFO without names
Status DescribeAll(CommandContext& ctx, Args& args, Reply& reply) {
  if (args.More()) return Status::Reply(errors::UnknownSubcommand(args.Bytes(), "COMMAND"));
  reply.Array(ctx.table().commands().size());
  for (const Command* command : ctx.table().commands()) ReplyCommand(*command, reply);
  return Ok();
}

// COMMAND INFO [command-name ...]
Status CommandInfo(CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  if (!args.More()) return DescribeAll(ctx, args, reply);
  reply.Array(args.left());
  while (args.More() && !reply.is_cut()) {
    const Command* command = TRY(NextByName(ctx, args));
    if (command != nullptr) {
      ReplyCommand(*command, reply);
    } else {
      reply.Null();
    }
  }
  return Ok();
}

// COMMAND COUNT
Status CommandCount(CommandContext& ctx, Args&, Reply& reply) {
  reply.Integer(static_cast<int64_t>(ctx.table().commands().size()));
  return Ok();
}

// COMMAND DOCS [command-name ...]
Status CommandDocs(CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  std::vector<const Command*> wanted;
  if (!args.More()) wanted = ctx.table().commands();
  while (args.More()) {
    const Command* command = TRY(NextByName(ctx, args));
    if (command != nullptr) wanted.push_back(command);
  }
  reply.Map(wanted.size());
  for (const Command* command : wanted) {
    if (reply.is_cut()) return Ok();
    reply.Bulk(command->full_name());
    TRY(ReplyDocs(*command, reply));
  }
  return Ok();
}

// The filter of COMMAND LIST; nothing set: all commands.
struct ListFilter {
  bool by_module = false;  // no command belongs to a module
  bool by_category = false;
  uint32_t category = 0;
  bool by_pattern = false;
  std::string_view pattern;

  bool Passes(const Command& command) const {
    if (by_category) return AclCategoriesOf(command) & category;
    if (by_pattern) return GlobMatches(pattern, command.full_name(), LetterCase::kIgnore);
    return !by_module;
  }
};

Result<ListFilter> ParseListFilter(Args& args) {
  ListFilter filter;
  if (!args.More()) return filter;
  if (!args.Keyword("filterby")) args.Fail(errors::kSyntax);
  if (args.Keyword("module")) {
    filter.by_module = true;
    args.Bytes();
  } else if (args.Keyword("aclcat")) {
    filter.by_category = true;
    filter.category = AclCategoryBit(args.Bytes());
  } else if (args.Keyword("pattern")) {
    filter.by_pattern = true;
    filter.pattern = args.Bytes();
  } else {
    args.Fail(errors::kSyntax);
  }
  TRY(args.Done());
  return filter;
}

// COMMAND LIST [FILTERBY <MODULE module-name | ACLCAT category | PATTERN pattern>]
Status CommandList(CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  const ListFilter filter = TRY(ParseListFilter(args));
  const size_t mark = reply.Later();
  size_t shown = 0;
  const auto show = [&](const Command& command) {
    if (!filter.Passes(command)) return;
    reply.Bulk(command.full_name());
    ++shown;
  };
  for (const Command* command : ctx.table().commands()) {
    show(*command);
    for (const Command& child : command->subcommands()) show(child);
  }
  reply.FinishArray(mark, shown);
  return Ok();
}

// Returns the keys of the command in `argv`, with their uses.
Result<std::vector<KeyUse>> FindUses(CommandContext& ctx, std::span<const std::string_view> argv) {
  const Command* command = ctx.table().Resolve(argv);
  const bool incomplete = command != nullptr && argv.size() > 1 && !command->subcommands().empty();
  if (command == nullptr || incomplete) return Status::Reply("ERR Invalid command specified");
  if (!command->has_keys()) return Status::Reply("ERR The command has no key arguments");
  if (!command->AcceptsArity(argv.size())) {
    return Status::Reply("ERR Invalid number of arguments specified for command");
  }
  std::vector<KeyUse> uses;
  const bool valid = command->FindKeyUses(argv, uses) && !uses.empty();
  if (valid) return uses;
  if (!command->Has(kNoMandatoryKeys)) {
    return Status::Reply("ERR Invalid arguments specified for command");
  }
  return std::vector<KeyUse>();
}

// COMMAND GETKEYS command [arg ...]
Status CommandGetKeys(CommandContext& ctx, Args& args, Reply& reply) {
  const auto argv = args.all().subspan(2);
  const std::vector<KeyUse> uses = TRY(FindUses(ctx, argv));
  reply.Array(uses.size());
  for (const KeyUse& use : uses) reply.Bulk(argv[use.position]);
  return Ok();
}

// COMMAND GETKEYSANDFLAGS command [arg ...]
Status CommandGetKeysAndFlags(CommandContext& ctx, Args& args, Reply& reply) {
  const auto argv = args.all().subspan(2);
  const std::vector<KeyUse> uses = TRY(FindUses(ctx, argv));
  reply.Array(uses.size());
  for (const KeyUse& use : uses) {
    reply.Array(2);
    reply.Bulk(argv[use.position]);
    ReplyKeyFlags(use.flags, reply);
  }
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "(no subcommand)",
    "    Return details of all commands.",
    "COUNT",
    "    Return the number of commands.",
    "DOCS [<command-name> ...]",
    "    Return the documentation of some commands, or of all.",
    "GETKEYS <full-command>",
    "    Return the keys of a command call.",
    "GETKEYSANDFLAGS <full-command>",
    "    Return the keys of a command call and how it uses each.",
    "INFO [<command-name> ...]",
    "    Return details of some commands, or of all.",
    "LIST [FILTERBY (MODULE <module-name>|ACLCAT <category>|PATTERN <pattern>)]",
    "    Return the names of all commands, or of those that match the filter.",
};

constexpr uint32_t kAlways = kLoading | kStale;

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "count", .arity = 2, .flags = kAlways, .run = CommandCount, .group = Group::kServer, .since = "2.8.13",
     .summary = "Returns the number of commands.", .complexity = "O(1)", .acl = "connection"},
    {.name = "docs", .arity = -2, .flags = kAlways, .run = CommandDocs, .group = Group::kServer, .since = "7.0.0",
     .summary = "Returns the documentation of commands.", .complexity = "O(N) with N the number of commands asked for",
     .syntax = "[command-name ...]", .acl = "connection", .tips = "nondeterministic_output_order"},
    {.name = "getkeys", .arity = -3, .flags = kAlways, .run = CommandGetKeys, .group = Group::kServer,
     .since = "2.8.13", .summary = "Returns the keys of a command call.",
     .complexity = "O(N) with N the number of words", .syntax = "command [arg [arg ...]]", .acl = "connection"},
    {.name = "getkeysandflags", .arity = -3, .flags = kAlways, .run = CommandGetKeysAndFlags, .group = Group::kServer,
     .since = "7.0.0", .summary = "Returns the keys of a command call and how it uses them.",
     .complexity = "O(N) with N the number of words", .syntax = "command [arg [arg ...]]", .acl = "connection"},
    {.name = "help", .arity = 2, .flags = kAlways, .run = Help<kHelp>, .group = Group::kServer, .since = "5.0.0",
     .summary = "Describes the subcommands.", .complexity = "O(1)", .acl = "connection"},
    {.name = "info", .arity = -2, .flags = kAlways, .run = CommandInfo, .group = Group::kServer, .since = "2.8.13",
     .summary = "Returns details of commands.", .complexity = "O(N) with N the number of commands asked for",
     .syntax = "[command-name ...]", .acl = "connection", .tips = "nondeterministic_output_order"},
    {.name = "list", .arity = -2, .flags = kAlways, .run = CommandList, .group = Group::kServer, .since = "7.0.0",
     .summary = "Returns the names of commands.", .complexity = "O(N) with N the number of commands",
     .syntax = "[FILTERBY <MODULE module-name | ACLCAT category | PATTERN pattern>]", .acl = "connection",
     .tips = "nondeterministic_output_order"},
};

constexpr CommandRow kRows[] = {
    {.name = "command", .arity = -1, .flags = kAlways | kSubcommands, .run = DescribeAll, .group = Group::kServer,
     .since = "2.8.13", .summary = "Returns details of all commands.",
     .complexity = "O(N) with N the number of commands", .acl = "connection", .tips = "nondeterministic_output_order",
     .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> CommandCommands() { return kRows; }

}  // namespace cairn
