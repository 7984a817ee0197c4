// SPDX-License-Identifier: BSD-3-Clause
//
// CONFIG and its subcommands: the table of directives as clients see it (config/config.h).
//
// CONFIG SET and REWRITE may wait for the disk or for each other, so they run on the slow lane. So does CONFIG GET with
// many or long arguments, because it compares each with all names.
#include "acl/users.h"
#include "command/help.h"
#include "command/parts.h"
#include "config/allowed.h"
#include "config/config.h"
#include "config/config_file.h"
#include "config/families.h"

namespace cairn {
namespace {

bool IsLong(const Args& args) {
  constexpr size_t kMostArguments = 64;
  constexpr size_t kMostBytes = 4096;
  if (args.size() > kMostArguments) return true;
  size_t bytes = 0;
  for (const std::string_view arg : args.all()) bytes += arg.size();
  return bytes > kMostBytes;
}

// CONFIG GET parameter [parameter ...]
Status ConfigGet(const ConfigParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  if (ctx.txn().command().lane() == Lane::kFast && IsLong(args)) return Status::WouldWait();
  const auto found = parts.config.Get(args.all().subspan(2));
  reply.Map(found.size());
  for (const auto& [name, value] : found) {
    reply.Bulk(name);
    reply.Bulk(value);
  }
  return Ok();
}

// CONFIG SET parameter value [parameter value ...]
Status ConfigSet(const ConfigParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  if (args.left() % 2 != 0) return Status::Reply(errors::kSyntax);
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  while (args.More()) {
    const std::string_view name = args.Bytes();
    pairs.emplace_back(name, args.Bytes());
  }
  TRY(parts.config.SetAll(pairs, IsAllowed(parts.config.settings().enable_protected_configs, ctx.session())));
  reply.Ok();
  return Ok();
}

// CONFIG REWRITE
Status ConfigRewrite(const ConfigParts& parts, CommandContext&, Args&, Reply& reply) {
  TRY(RewriteConfig(parts.config, parts.users, parts.config_file, RewriteScope::kChanged));
  reply.Ok();
  return Ok();
}

// CONFIG RESETSTAT
Status ConfigResetStat(const ConfigParts& parts, CommandContext&, Args&, Reply& reply) {
  parts.reset_stats();
  reply.Ok();
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "GET <pattern> [<pattern> ...]",
    "    Show the directives that match a pattern, with their values.",
    "RESETSTAT",
    "    Reset the statistics of INFO.",
    "REWRITE",
    "    Write the current values to the configuration file.",
    "SET <directive> <value> [<directive> <value> ...]",
    "    Set directives; on an error, none is set.",
};

constexpr uint32_t kFlags = kAdmin | kNoScript | kLoading | kStale;
constexpr auto kGroup = Group::kServer;

// clang-format off
constexpr CommandRow kSubcommandRows[] = {
    {.name = "get", .arity = -3, .flags = kFlags, .run = With<ConfigGet>, .group = kGroup, .since = "2.0.0",
     .summary = "Returns directives and their values.", .complexity = "O(N) with N the number of parameters given",
     .syntax = "parameter [parameter ...]"},
    {.name = "set", .arity = -4, .flags = kFlags | kSlowLane, .run = With<ConfigSet>, .group = kGroup, .since = "2.0.0",
     .summary = "Sets directives while the server runs.", .complexity = "O(N) with N the number of parameters given",
     .syntax = "parameter value [parameter value ...]",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
    {.name = "rewrite", .arity = 2, .flags = kFlags | kSlowLane, .run = With<ConfigRewrite>, .group = kGroup,
     .since = "2.8.0", .summary = "Writes the current values to the configuration file.", .complexity = "O(1)",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
    {.name = "resetstat", .arity = 2, .flags = kFlags, .run = With<ConfigResetStat>, .group = kGroup, .since = "2.0.0",
     .summary = "Resets the statistics of INFO.", .complexity = "O(1)",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
    {.name = "help", .arity = 2, .flags = kLoading | kStale, .run = Help<kHelp>, .group = kGroup, .since = "5.0.0",
     .summary = "Describes the subcommands.", .complexity = "O(1)"},
};

constexpr CommandRow kRows[] = {
    {.name = "config", .arity = -2, .flags = kSubcommands, .group = kGroup, .since = "2.0.0",
     .summary = "Commands about the configuration.", .complexity = "Depends on the subcommand.",
     .subcommands = kSubcommandRows},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ConfigCommands() { return kRows; }

}  // namespace cairn
