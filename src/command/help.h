// SPDX-License-Identifier: BSD-3-Clause
//
// Help: the HELP subcommand of a container.
#pragma once

#include <iterator>
#include <string>
#include <string_view>

#include "command/context.h"

namespace cairn {

// The function of a container's HELP. It replies with the container's usage, `kLines`, and an entry for HELP itself. By
// convention a line is the usage of a subcommand or, indented by four spaces, its description.
template <const auto& kLines>
Status Help(CommandContext& ctx, Args&, Reply& reply) {
  std::string container(ctx.command().top().row().name);
  for (char& c : container) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  reply.Array(std::size(kLines) + 3);
  reply.Simple(container + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
  for (const std::string_view line : kLines) reply.Simple(line);
  reply.Simple("HELP");
  reply.Simple("    Prints this help.");
  return Ok();
}

}  // namespace cairn
