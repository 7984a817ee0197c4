// SPDX-License-Identifier: BSD-3-Clause
//
// MODULE: client libraries look up the modules whose commands Cairn has itself (command/json.cc, command/bloom.cc).
// Loading a module is refused in Redis's words for its default, enable-module-command no.
#include <iterator>

#include "command/context.h"
#include "command/help.h"
#include "server/families.h"

namespace cairn {
namespace {

constexpr std::string_view kNotAllowed =
    "ERR MODULE command not allowed. If the enable-module-command option is set to \"local\", you can run it from a "
    "local connection, otherwise you need to set this option in the configuration file, and then restart the server.";

// A module of Redis whose commands are built in, with the version whose behaviour they have.
struct BuiltIn {
  std::string_view name;
  int64_t version;
};
constexpr BuiltIn kBuiltIn[] = {{"ReJSON", 80200}, {"bf", 80800}};

// MODULE LIST
Status ModuleList(CommandContext&, Args&, Reply& reply) {
  reply.Array(std::size(kBuiltIn));
  for (const BuiltIn& module : kBuiltIn) {
    reply.Map(4);
    reply.Bulk("name");
    reply.Bulk(module.name);
    reply.Bulk("ver");
    reply.Integer(module.version);
    reply.Bulk("path");
    reply.Bulk("");
    reply.Bulk("args");
    reply.Array(0);
  }
  return Ok();
}

// MODULE LOAD path [arg ...], MODULE LOADEX ..., MODULE UNLOAD name
Status RefuseModule(CommandContext&, Args&, Reply&) { return Status::Reply(kNotAllowed); }

constexpr std::string_view kHelp[] = {
    "LIST",
    "    List the modules whose commands Cairn has.",
    "LOAD <path> [<arg> ...]",
    "    Refused: Cairn loads no modules.",
    "LOADEX <path> [CONFIG <name> <value> ...] [ARGS <arg> ...]",
    "    Refused: Cairn loads no modules.",
    "UNLOAD <name>",
    "    Refused: Cairn loads no modules.",
};

constexpr auto kGroup = Group::kServer;
constexpr uint32_t kGuarded = kAdmin | kNoScript | kNoAsyncLoading;

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "list", .arity = 2, .flags = kAdmin | kNoScript, .run = ModuleList, .group = kGroup, .since = "4.0.0",
     .summary = "Returns the modules whose commands are built in.", .complexity = "O(1)",
     .tips = "nondeterministic_output_order"},
    {.name = "load", .arity = -3, .flags = kGuarded, .run = RefuseModule, .group = kGroup, .since = "4.0.0",
     .summary = "Refused: Cairn loads no modules.", .complexity = "O(1)", .syntax = "path [arg [arg ...]]"},
    {.name = "loadex", .arity = -3, .flags = kGuarded, .run = RefuseModule, .group = kGroup, .since = "7.0.0",
     .summary = "Refused: Cairn loads no modules.", .complexity = "O(1)",
     .syntax = "path [CONFIG name value [CONFIG name value ...]] [ARGS arg [arg ...]]"},
    {.name = "unload", .arity = 3, .flags = kGuarded, .run = RefuseModule, .group = kGroup, .since = "4.0.0",
     .summary = "Refused: Cairn loads no modules.", .complexity = "O(1)", .syntax = "name"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kHelp>, .group = kGroup, .since = "5.0.0",
     .summary = "Describes the subcommands.", .complexity = "O(1)"},
};

constexpr CommandRow kRows[] = {
    {.name = "module", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "4.0.0",
     .summary = "Commands about modules.", .complexity = "Depends on the subcommand.", .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ModuleCommands() { return kRows; }

}  // namespace cairn
