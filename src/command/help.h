// SPDX-License-Identifier: BSD-3-Clause
//
// What the HELP subcommand of a container answers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "resp/reply.h"

namespace cairn {

// An array of lines: how the container is called, `lines`, and a word on HELP itself. By custom a
// line is the usage of a subcommand, or, indented by four spaces, says what it does. `container` in
// upper case.
inline void ReplyHelp(Reply& reply, std::string_view container, std::span<const std::string_view> lines) {
  reply.Array(lines.size() + 3);
  reply.Simple(std::string(container) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
  for (const std::string_view line : lines) reply.Simple(line);
  reply.Simple("HELP");
  reply.Simple("    Prints this help.");
}

}  // namespace cairn
