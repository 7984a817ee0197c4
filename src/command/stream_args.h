// SPDX-License-Identifier: BSD-3-Clause
//
// What the stream commands have in common: reading ids and ranges of ids, writing entries.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "command/context.h"
#include "resp/reply.h"
#include "types/stream.h"
#include "types/stream_group.h"

namespace cairn {

// An id that is written as one: "ms-seq" or "ms".
Result<StreamId> ReadStreamIdArgument(std::string_view text, uint64_t missing_seq = 0);

struct StreamRange {
  StreamId from;
  StreamId to;
};
// The ends of a range: an id, "-", "+", or "(" and an id, which is not in the range then.
Result<StreamId> ReadRangeStart(std::string_view text);
Result<StreamId> ReadRangeEnd(std::string_view text);

// The number behind an option, as it is or with 0 for what is below.
Result<int64_t> ReadStreamNumber(std::string_view text);
Result<int64_t> ReadStreamCount(std::string_view text);

// "NOGROUP No such key 'k' or consumer group 'g'", then `context`.
Status NoSuchGroup(std::string_view key, std::string_view group, std::string_view context = {});
// "NOGROUP No such consumer group 'g' for key name 'k'"
Status NoGroupOfKey(std::string_view key, std::string_view group);

// ---- what replicas are told, in place of a command that depends on the time or on who comes first
// The entry is pending for a consumer, delivered then and so many times.
void TellPending(CommandContext& ctx, std::string_view key, const StreamGroup& group, std::string_view consumer,
                 const PendingEntry& entry);
// What the group has read up to.
void TellGroupPosition(CommandContext& ctx, std::string_view key, const StreamGroup& group);
// There is a new consumer, which is an event too.
void TellNewConsumer(CommandContext& ctx, std::string_view key, const StreamGroup& group, std::string_view consumer);

void ReplyStreamId(Reply& reply, StreamId id);
// An array of the id and an array of fields and values.
void ReplyStreamEntry(Reply& reply, const StreamEntry& entry);
// Up to `count` entries of the range, 0 for all; answers how many.
Result<size_t> ReplyStreamEntries(Reply& reply, const Stream& stream, const StreamRange& range, uint64_t count,
                                  bool reverse);

}  // namespace cairn
