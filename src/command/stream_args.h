// SPDX-License-Identifier: BSD-3-Clause
//
// Shared parts of the stream commands: parsing ids and ranges of ids, writing entries.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "command/context.h"
#include "resp/reply.h"
#include "types/stream.h"
#include "types/stream_group.h"
#include "types/stream_references.h"

namespace cairn {

// Parses an explicit id: "ms-seq" or "ms".
Result<StreamId> ReadStreamIdArgument(std::string_view text, uint64_t missing_seq = 0);

struct StreamRange {
  StreamId from;
  StreamId to;
};
// Parse an end of a range: an id, "-", "+", or "(" and an id, which excludes that id.
Result<StreamId> ReadRangeStart(std::string_view text);
Result<StreamId> ReadRangeEnd(std::string_view text);

// Parse the number of an option: as it is, or with negative numbers read as 0.
Result<int64_t> ReadStreamNumber(std::string_view text);
Result<int64_t> ReadStreamCount(std::string_view text);

// Parses KEEPREF, DELREF or ACKED; nullopt for another word.
std::optional<ReferencePolicy> ParseReferencePolicy(std::string_view word);

// "NOGROUP No such key 'k' or consumer group 'g'", then `context`.
Status NoSuchGroup(std::string_view key, std::string_view group, std::string_view context = {});
// "NOGROUP No such consumer group 'g' for key name 'k'"
Status NoGroupOfKey(std::string_view key, std::string_view group);

// ---- replication of commands that depend on the time or on the order of clients
// The entry is pending for a consumer, with this delivery time and count.
void ReplicatePending(CommandContext& ctx, std::string_view key, const StreamGroup& group, std::string_view consumer,
                      const PendingEntry& entry);
// Replicates the group's read position.
void ReplicateGroupPosition(CommandContext& ctx, std::string_view key, const StreamGroup& group);
// Emits and replicates the creation of a consumer.
void ReplicateNewConsumer(CommandContext& ctx, std::string_view key, const StreamGroup& group,
                          std::string_view consumer);
// Replicates a command with the ids behind `words`. Without ids it replicates nothing.
void ReplicateIds(CommandContext& ctx, std::vector<std::string_view> words, const std::vector<StreamId>& ids);
// Replicates that entries are no longer pending: as XACK, for each group.
void ReplicateReleased(CommandContext& ctx, std::string_view key, const StreamReferences& references);

// The count of deliveries after one more.
uint64_t NextDelivery(uint64_t deliveries);

void ReplyStreamId(Reply& reply, StreamId id);
// Replies with an array of the id and an array of fields and values.
void ReplyStreamEntry(Reply& reply, const StreamEntry& entry);
// The same without the header of the array, for longer ones.
void ReplyStreamEntryParts(Reply& reply, const StreamEntry& entry);
// Replies with up to `count` entries of the range, 0 for all. Returns their number.
Result<size_t> ReplyStreamEntries(Reply& reply, const Stream& stream, const StreamRange& range, uint64_t count,
                                  bool reverse);

}  // namespace cairn
