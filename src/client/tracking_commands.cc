// SPDX-License-Identifier: BSD-3-Clause
#include "client/tracking_commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/client_registry.h"
#include "client/client_session.h"
#include "client/tracking.h"

namespace cairn {
namespace {

constexpr std::string_view kOneRedirect = "ERR A client can only redirect to a single other client";
constexpr std::string_view kNoSuchClient = "ERR The client ID you want redirect to does not exist";
constexpr std::string_view kPrefixAlone = "ERR PREFIX option requires BCAST mode to be enabled";
constexpr std::string_view kSwitchedBroadcast =
    "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a "
    "different mode.";
constexpr std::string_view kOptWithBroadcast = "ERR OPTIN and OPTOUT are not compatible with BCAST";
constexpr std::string_view kBothOpts = "ERR You can't specify both OPTIN mode and OPTOUT mode";
constexpr std::string_view kSwitchedOpt =
    "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a "
    "different mode.";
constexpr std::string_view kNotTracking =
    "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled";
constexpr std::string_view kNotOptIn = "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.";
constexpr std::string_view kNotOptOut = "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.";

struct Request {
  Tracking::Options options;
  TrackingMode mode;
};

Status ReadRedirect(const ClientParts& parts, CommandContext&, Args& args, Request& request) {
  if (request.options.redirect != 0) return Status::Reply(kOneRedirect);
  const int64_t id = args.Integer();
  TRY(args.Check());
  if (parts.clients.Find(static_cast<uint64_t>(id)) == nullptr) return Status::Reply(kNoSuchClient);
  request.options.redirect = static_cast<uint64_t>(id);
  return Ok();
}

Result<Request> ReadRequest(const ClientParts& parts, CommandContext& ctx, Args& args) {
  Request request;
  while (args.More()) {
    if (args.left() > 1 && args.Keyword("redirect")) {
      TRY(ReadRedirect(parts, ctx, args, request));
    } else if (args.Keyword("bcast")) {
      request.mode.broadcast = true;
    } else if (args.Keyword("optin")) {
      request.mode.opt_in = true;
    } else if (args.Keyword("optout")) {
      request.mode.opt_out = true;
    } else if (args.Keyword("noloop")) {
      request.mode.no_loop = true;
    } else if (args.left() > 1 && args.Keyword("prefix")) {
      request.options.prefixes.emplace_back(args.Bytes());
    } else {
      return Status::Reply(errors::kSyntax);
    }
  }
  request.options.broadcast = request.mode.broadcast;
  request.options.no_loop = request.mode.no_loop;
  request.mode.on = true;
  return request;
}

// The index of the first prefix that overlaps with another one, new or existing; prefixes.size() if none does. Existing
// prefixes do not overlap.
size_t FirstOverlapping(const std::set<std::string>& existing, const std::vector<std::string>& prefixes) {
  size_t first = prefixes.size();
  std::vector<std::pair<std::string_view, size_t>> sorted;
  for (const std::string& prefix : existing) sorted.emplace_back(prefix, first);
  for (size_t i = 0; i < prefixes.size(); ++i) sorted.emplace_back(prefixes[i], i);
  std::sort(sorted.begin(), sorted.end());
  // All prefixes that start with a shorter one follow it.
  for (size_t shorter = 0, i = 1; i < sorted.size(); ++i) {
    if (sorted[i].first.starts_with(sorted[shorter].first)) {
      first = std::min({first, sorted[shorter].second, sorted[i].second});
    } else {
      shorter = i;
    }
  }
  return first;
}

// Whether some key starts with both prefixes.
bool Overlap(std::string_view a, std::string_view b) { return a.starts_with(b) || b.starts_with(a); }

Status Overlaps(std::string_view prefix, std::string_view which, std::string_view other) {
  return Status::Reply(
      fmt::format("ERR Prefix '{}' overlaps with {} prefix '{}'. Prefixes for a single client must not overlap.",
                  prefix, which, other));
}

Status CheckPrefixes(const std::set<std::string>& existing, const std::vector<std::string>& prefixes) {
  const size_t i = FirstOverlapping(existing, prefixes);
  for (const std::string& other : existing) {
    if (i < prefixes.size() && Overlap(prefixes[i], other)) return Overlaps(prefixes[i], "an existing", other);
  }
  for (size_t j = i + 1; j < prefixes.size(); ++j) {
    if (Overlap(prefixes[i], prefixes[j])) return Overlaps(prefixes[i], "another provided", prefixes[j]);
  }
  return Ok();
}

Status CheckModes(const Request& request, const TrackingMode& before) {
  const TrackingMode& mode = request.mode;
  if (!mode.broadcast && !request.options.prefixes.empty()) return Status::Reply(kPrefixAlone);
  if (before.on && before.broadcast != mode.broadcast) return Status::Reply(kSwitchedBroadcast);
  if (mode.broadcast && (mode.opt_in || mode.opt_out)) return Status::Reply(kOptWithBroadcast);
  if (mode.opt_in && mode.opt_out) return Status::Reply(kBothOpts);
  if ((mode.opt_in && before.opt_out) || (mode.opt_out && before.opt_in)) return Status::Reply(kSwitchedOpt);
  return Ok();
}

Status TurnOn(const ClientParts& parts, CommandContext& ctx, Request request) {
  auto& session = static_cast<ClientSession&>(ctx.session());
  Tracking& tracking = parts.tracking;
  TRY(CheckModes(request, session.tracking));
  std::vector<std::string>& prefixes = request.options.prefixes;
  if (request.mode.broadcast) {
    TRY(CheckPrefixes(tracking.PrefixesOf(session), prefixes));
    if (prefixes.empty()) prefixes.emplace_back();  // all keys
  }
  TRY(tracking.Prepare(session, ctx.txn()));
  if (!ctx.txn().ReadsHold()) return Status::WouldWait();  // after this point the command cannot run again
  tracking.TurnOn(session, request.options);
  session.tracking = request.mode;
  session.shown.redirect = static_cast<int64_t>(request.options.redirect);
  session.shown.tracking = request.mode.broadcast ? kShowsTracking | kShowsBroadcast : kShowsTracking;
  return Ok();
}

}  // namespace

void EndTracking(Tracking& tracking, Session& session) {
  if (!session.tracking.on) return;
  tracking.TurnOff(static_cast<ClientSession&>(session));
  session.tracking = {};
  session.shown.redirect = -1;
  session.shown.tracking = 0;
}

// CLIENT TRACKING <ON | OFF> [REDIRECT client-id] [PREFIX prefix ...] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]
Status ClientTracking(const ClientParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  const std::string_view word = args.Bytes();
  Request request = TRY(ReadRequest(parts, ctx, args));
  if (EqualsIgnoreCase(word, "on")) {
    TRY(TurnOn(parts, ctx, std::move(request)));
  } else if (EqualsIgnoreCase(word, "off")) {
    EndTracking(parts.tracking, ctx.session());
  } else {
    return Status::Reply(errors::kSyntax);
  }
  reply.Ok();
  return Ok();
}

// CLIENT CACHING <YES | NO>
Status ClientCaching(CommandContext& ctx, Args& args, Reply& reply) {
  args.Skip(1);
  TrackingMode& mode = ctx.session().tracking;
  if (!mode.on) return Status::Reply(kNotTracking);
  if (args.Keyword("yes")) {
    if (!mode.opt_in) return Status::Reply(kNotOptIn);
  } else if (args.Keyword("no")) {
    if (!mode.opt_out) return Status::Reply(kNotOptOut);
  } else {
    return Status::Reply(errors::kSyntax);
  }
  mode.caching = true;
  reply.Ok();
  return Ok();
}

// CLIENT GETREDIR
Status ClientGetRedir(CommandContext& ctx, Args&, Reply& reply) {
  reply.Integer(ctx.session().shown.redirect);
  return Ok();
}

// CLIENT TRACKINGINFO
Status ClientTrackingInfo(const ClientParts& parts, CommandContext& ctx, Args&, Reply& reply) {
  const auto& session = static_cast<ClientSession&>(ctx.session());
  const TrackingMode& mode = session.tracking;
  std::vector<std::string_view> flags = {mode.on ? "on" : "off"};
  if (mode.broadcast) flags.push_back("bcast");
  if (mode.opt_in) flags.push_back("optin");
  if (mode.opt_in && mode.caching) flags.push_back("caching-yes");
  if (mode.opt_out) flags.push_back("optout");
  if (mode.opt_out && mode.caching) flags.push_back("caching-no");
  if (mode.no_loop) flags.push_back("noloop");
  if (session.shown.tracking & kShowsBrokenRedirect) flags.push_back("broken_redirect");
  reply.Map(3);
  reply.Bulk("flags");
  reply.Set(flags.size());
  for (const std::string_view flag : flags) reply.Bulk(flag);
  reply.Bulk("redirect");
  reply.Integer(session.shown.redirect);
  reply.Bulk("prefixes");
  const std::set<std::string> prefixes = parts.tracking.PrefixesOf(session);
  reply.Array(prefixes.size());
  for (const std::string& prefix : prefixes) reply.Bulk(prefix);
  return Ok();
}

}  // namespace cairn
