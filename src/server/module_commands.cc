// SPDX-License-Identifier: BSD-3-Clause
//
// MODULE: tools list the modules, and there are none. Loading one is refused in Redis's words for its default,
// enable-module-command no.
#include "command/context.h"
#include "command/help.h"
#include "server/families.h"

namespace cairn {
namespace {

constexpr std::string_view kNotAllowed =
    "ERR MODULE command not allowed. If the enable-module-command option is set to \"local\", you can run it from a "
    "local connection, otherwise you need to set this option in the configuration file, and then restart the server.";

// MODULE LIST
Status ModuleList(CommandContext&, Args&, Reply& reply) {
  reply.Array(0);
  return Ok();
}

// MODULE LOAD path [arg ...], MODULE LOADEX ..., MODULE UNLOAD name
Status RefuseModule(CommandContext&, Args&, Reply&) { return Status::Reply(kNotAllowed); }

constexpr std::string_view kHelp[] = {
    "LIST",
    "    List the loaded modules; Cairn has none.",
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
     .summary = "Returns the loaded modules: none.", .complexity = "O(1)", .tips = "nondeterministic_output_order"},
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
