// SPDX-License-Identifier: BSD-3-Clause
//
// The functions of CLIENT's subcommands about client-side caching (server/tracking.h). Their rows stand with CLIENT's
// others (server/client_commands.cc).
#pragma once

#include "command/args.h"
#include "command/context.h"

namespace cairn {

Status ClientTracking(CommandContext& ctx, Args& args, Reply& reply);
Status ClientTrackingInfo(CommandContext& ctx, Args& args, Reply& reply);
Status ClientCaching(CommandContext& ctx, Args& args, Reply& reply);
Status ClientGetRedir(CommandContext& ctx, Args& args, Reply& reply);

// Ends the session's tracking, if there is any.
void EndTracking(Server& server, Session& session);

}  // namespace cairn
