// SPDX-License-Identifier: BSD-3-Clause
//
// The functions of CLIENT's subcommands about client-side caching (client/tracking.h). Their rows are in
// client/client_commands.cc.
#pragma once

#include "client/families.h"
#include "command/args.h"
#include "command/context.h"

namespace cairn {

class Tracking;

Status ClientTracking(const ClientParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClientTrackingInfo(const ClientParts& parts, CommandContext& ctx, Args& args, Reply& reply);
Status ClientCaching(CommandContext& ctx, Args& args, Reply& reply);
Status ClientGetRedir(CommandContext& ctx, Args& args, Reply& reply);

// Ends the session's tracking, if it tracks.
void EndTracking(Tracking& tracking, Session& session);

}  // namespace cairn
