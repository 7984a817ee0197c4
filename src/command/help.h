// SPDX-License-Identifier: BSD-3-Clause
//
// The reply of a container's HELP subcommand.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "resp/reply.h"

namespace cairn {

// Replies with an array of lines: the container's usage, `lines`, and an entry for HELP itself. By convention a line is
// the usage of a subcommand or, indented by four spaces, its description. `container` is in upper case.
inline void ReplyHelp(Reply& reply, std::string_view container, std::span<const std::string_view> lines) {
  reply.Array(lines.size() + 3);
  reply.Simple(std::string(container) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
  for (const std::string_view line : lines) reply.Simple(line);
  reply.Simple("HELP");
  reply.Simple("    Prints this help.");
}

}  // namespace cairn
