// SPDX-License-Identifier: BSD-3-Clause
//
// XNACK: a consumer gives pending entries back to their group, which delivers them to the next one that claims entries.
// It is replicated with the resulting numbers of deliveries.
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/named.h"
#include "command/stream_args.h"
#include "types/stream.h"
#include "types/stream_group.h"

namespace cairn {
namespace {

constexpr std::string_view kMode = "ERR mode must be SILENT, FAIL, or FATAL";
constexpr std::string_view kIdCount = "ERR numids must be a positive integer";
constexpr std::string_view kIdMismatch = "ERR number of IDs doesn't match numids";
constexpr std::string_view kRetries = "ERR Invalid RETRYCOUNT value, must be >= 0";
constexpr std::string_view kNoIds = "ERR syntax error, expected IDS keyword";
constexpr uint64_t kMostDeliveries = std::numeric_limits<int64_t>::max();

// How the delivery counts.
enum class NackMode : uint8_t {
  kSilent,  // not at all
  kFail,    // as a delivery
  kFatal,   // as the last one: the count becomes the highest possible
};

struct NackOptions {
  NackMode mode = NackMode::kFail;
  std::vector<StreamId> ids;
  std::optional<uint64_t> deliveries;  // RETRYCOUNT
  bool force = false;                  // also entries that are not pending
};

Result<NackMode> ReadMode(std::string_view word) {
  if (EqualsIgnoreCase(word, "silent")) return NackMode::kSilent;
  if (EqualsIgnoreCase(word, "fail")) return NackMode::kFail;
  if (EqualsIgnoreCase(word, "fatal")) return NackMode::kFatal;
  return Status::Reply(kMode);
}

// numids id [id ...]; the ids are parsed after all options.
Result<std::span<const std::string_view>> ReadIdList(const Args& args, size_t at) {
  const auto count = ParseInt64(args[at]);
  if (!count || *count < 1 || *count > INT32_MAX) return Status::Reply(kIdCount);
  if (static_cast<size_t>(*count) > args.size() - at - 1) return Status::Reply(kIdMismatch);
  return args.all().subspan(at + 1, static_cast<size_t>(*count));
}

// SILENT | FAIL | FATAL IDS numids id [id ...] [RETRYCOUNT count] [FORCE], from the fourth argument on.
Result<NackOptions> ReadNackOptions(const Args& args) {
  NackOptions options{.mode = TRY(ReadMode(args[3]))};
  std::span<const std::string_view> ids;
  for (size_t at = 4; at < args.size(); ++at) {
    const std::string_view word = args[at];
    const bool followed = at + 1 < args.size();
    if (followed && EqualsIgnoreCase(word, "ids")) {
      ids = TRY(ReadIdList(args, at + 1));
      at += ids.size() + 1;
    } else if (EqualsIgnoreCase(word, "force")) {
      options.force = true;
    } else if (followed && EqualsIgnoreCase(word, "retrycount")) {
      const int64_t deliveries = TRY(ReadStreamNumber(args[++at]));
      if (deliveries < 0) return Status::Reply(kRetries);
      options.deliveries = static_cast<uint64_t>(deliveries);
    } else {
      return Status::Reply("ERR Unrecognized XNACK option '" + std::string(errors::Shown(word)) + "'");
    }
  }
  if (ids.empty()) return Status::Reply(kNoIds);
  for (const std::string_view id : ids) options.ids.push_back(TRY(ReadStreamIdArgument(id)));
  return options;
}

uint64_t DeliveriesAfter(const NackOptions& options, uint64_t deliveries) {
  if (options.deliveries) return *options.deliveries;
  switch (options.mode) {
    case NackMode::kSilent: return deliveries == 0 ? 0 : deliveries - 1;
    case NackMode::kFatal: return kMostDeliveries;
    case NackMode::kFail: break;
  }
  return deliveries;
}

// Replicates entries with the same number of deliveries.
void Replicate(CommandContext& ctx, std::string_view key, const StreamGroup& group, uint64_t deliveries,
               const std::vector<StreamId>& ids) {
  const std::string count = std::to_string(deliveries);
  const std::string size = std::to_string(ids.size());
  ReplicateIds(ctx, {"XNACK", key, group.name(), "FAIL", "RETRYCOUNT", count, "FORCE", "IDS", size}, ids);
}

// XNACK key group SILENT | FAIL | FATAL IDS numids id [id ...] [RETRYCOUNT count] [FORCE]
Status XNack(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Stream> stream(ctx, args[1]);
  TRY(stream.Open());
  std::optional<StreamGroup> group = TRY(StreamGroup::Find(stream, args[2]));
  if (!group) return NoSuchGroup(args[1], args[2]);
  const NackOptions options = TRY(ReadNackOptions(args));
  std::vector<StreamId> run;  // successive entries with the same number of deliveries
  uint64_t deliveries_of_run = 0;
  uint64_t nacked = 0;
  for (const StreamId id : options.ids) {
    const std::optional<PendingEntry> entry = TRY(group->Pending(id));
    if (!entry && !(options.force && TRY(stream.Has(id)))) continue;
    const uint64_t deliveries = DeliveriesAfter(options, entry ? entry->deliveries : 0);
    TRY(group->Nack({.id = id, .deliveries = deliveries}));
    if (deliveries != deliveries_of_run) {
      Replicate(ctx, args[1], *group, deliveries_of_run, run);
      run.clear();
    }
    run.push_back(id);
    deliveries_of_run = deliveries;
    ++nacked;
  }
  if (nacked > 0) {
    Replicate(ctx, args[1], *group, deliveries_of_run, run);
    ctx.CountChanges(nacked);
    group->Save();
  }
  reply.Integer(static_cast<int64_t>(nacked));
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "xnack", .arity = -7, .flags = kWrite | kFast, .keys = {OneKey(kRW | kUpdate)}, .run = XNack,
     .group = Group::kStream, .since = "8.8.0",
     .summary = "Gives pending entries back to their group, for the next consumer that claims entries.",
     .complexity = "O(1) for each entry",
     .syntax = "key group <SILENT | FAIL | FATAL> IDS numids:integer id [id ...] [RETRYCOUNT count] [FORCE]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> StreamNackCommands() { return kRows; }

}  // namespace cairn
