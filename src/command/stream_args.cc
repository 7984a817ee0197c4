// SPDX-License-Identifier: BSD-3-Clause
#include "command/stream_args.h"

#include <algorithm>
#include <string>

#include "base/number.h"
#include "resp/errors.h"

namespace cairn {
namespace {

constexpr std::string_view kInvalidId = "ERR Invalid stream ID specified as stream command argument";
constexpr std::string_view kInvalidStart = "ERR invalid start ID for the interval";
constexpr std::string_view kInvalidEnd = "ERR invalid end ID for the interval";

bool IsOpen(std::string_view text) { return text.size() > 1 && text[0] == '('; }

Result<StreamId> ReadRangeId(std::string_view text, uint64_t missing_seq) {
  if (text == "-") return StreamId{};
  if (text == "+") return kLastStreamId;
  return ReadStreamIdArgument(text, missing_seq);
}

}  // namespace

Result<StreamId> ReadStreamIdArgument(std::string_view text, uint64_t missing_seq) {
  const auto id = ParseStreamId(text, missing_seq);
  if (!id) return Status::Reply(kInvalidId);
  return *id;
}

Result<StreamId> ReadRangeStart(std::string_view text) {
  if (!IsOpen(text)) return ReadRangeId(text, 0);
  const auto next = NextStreamId(TRY(ReadStreamIdArgument(text.substr(1), 0)));
  if (!next) return Status::Reply(kInvalidStart);
  return *next;
}

Result<StreamId> ReadRangeEnd(std::string_view text) {
  if (!IsOpen(text)) return ReadRangeId(text, UINT64_MAX);
  const auto previous = PreviousStreamId(TRY(ReadStreamIdArgument(text.substr(1), UINT64_MAX)));
  if (!previous) return Status::Reply(kInvalidEnd);
  return *previous;
}

Result<int64_t> ReadStreamNumber(std::string_view text) {
  const auto number = ParseInt64(text);
  if (!number) return Status::Reply(errors::kNotAnInteger);
  return *number;
}

Result<int64_t> ReadStreamCount(std::string_view text) { return std::max<int64_t>(TRY(ReadStreamNumber(text)), 0); }

std::optional<ReferencePolicy> ParseReferencePolicy(std::string_view word) {
  if (EqualsIgnoreCase(word, "keepref")) return ReferencePolicy::kKeep;
  if (EqualsIgnoreCase(word, "delref")) return ReferencePolicy::kDrop;
  if (EqualsIgnoreCase(word, "acked")) return ReferencePolicy::kAcked;
  return std::nullopt;
}

Status NoSuchGroup(std::string_view key, std::string_view group, std::string_view context) {
  std::string text = "NOGROUP No such key '";
  text.append(errors::Shown(key));
  text.append("' or consumer group '");
  text.append(errors::Shown(group));
  text.append("'");
  text.append(context);
  return Status::Reply(text);
}

Status NoGroupOfKey(std::string_view key, std::string_view group) {
  std::string text = "NOGROUP No such consumer group '";
  text.append(errors::Shown(group));
  text.append("' for key name '");
  text.append(errors::Shown(key));
  text.append("'");
  return Status::Reply(text);
}

void ReplicatePending(CommandContext& ctx, std::string_view key, const StreamGroup& group, std::string_view consumer,
                      const PendingEntry& entry) {
  if (!ctx.is_replicated()) return ctx.ReplicateNothing();
  ctx.Replicate({"XCLAIM", key, group.name(), consumer, "0", entry.id.ToString(), "TIME",
                 std::to_string(entry.delivered_ms), "RETRYCOUNT", std::to_string(entry.deliveries), "FORCE", "JUSTID",
                 "LASTID", group.last_id().ToString()});
}

void ReplicateGroupPosition(CommandContext& ctx, std::string_view key, const StreamGroup& group) {
  if (!ctx.is_replicated()) return ctx.ReplicateNothing();
  ctx.Replicate({"XGROUP", "SETID", key, group.name(), group.last_id().ToString(), "ENTRIESREAD",
                 std::to_string(group.entries_read())});
}

void ReplicateNewConsumer(CommandContext& ctx, std::string_view key, const StreamGroup& group,
                          std::string_view consumer) {
  ctx.Changed(kStreamEvent, "xgroup-createconsumer", key);
  ctx.Replicate({"XGROUP", "CREATECONSUMER", key, group.name(), consumer});
}

void ReplicateIds(CommandContext& ctx, std::vector<std::string_view> words, const std::vector<StreamId>& ids) {
  if (ids.empty()) return;
  if (!ctx.is_replicated()) return ctx.ReplicateNothing();
  std::vector<std::string> texts;
  for (const StreamId id : ids) texts.push_back(id.ToString());
  words.insert(words.end(), texts.begin(), texts.end());
  ctx.Replicate(words);
}

void ReplicateReleased(CommandContext& ctx, std::string_view key, const StreamReferences& references) {
  for (const StreamReferences::Group& each : references.groups()) {
    ReplicateIds(ctx, {"XACK", key, each.group.name()}, each.released);
  }
}

void ReplyStreamId(Reply& reply, StreamId id) { reply.Bulk(id.ToString()); }

uint64_t NextDelivery(uint64_t deliveries) { return std::min<uint64_t>(deliveries, INT64_MAX - 1) + 1; }

void ReplyStreamEntry(Reply& reply, const StreamEntry& entry) {
  reply.Array(2);
  ReplyStreamEntryParts(reply, entry);
}

void ReplyStreamEntryParts(Reply& reply, const StreamEntry& entry) {
  ReplyStreamId(reply, entry.id);
  reply.Array(2 * entry.fields.size());
  std::string scratch;
  for (const auto& [field, value] : entry.fields) {
    reply.Bulk(field.Text(scratch));
    reply.Bulk(value.Text(scratch));
  }
}

Result<size_t> ReplyStreamEntries(Reply& reply, const Stream& stream, const StreamRange& range, uint64_t count,
                                  bool reverse) {
  size_t written = 0;
  TRY(stream.ForEach(range.from, range.to, reverse, [&](const StreamEntry& entry) -> Result<bool> {
    ReplyStreamEntry(reply, entry);
    return ++written != count;
  }));
  return written;
}

}  // namespace cairn
