// SPDX-License-Identifier: BSD-3-Clause
#include "check/stream_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr size_t kRowIdBytes = sizeof(CollectionId);
constexpr size_t kEntryIdBytes = 16;

Status Bad(const char* why) { return Status::Corruption(why); }

}  // namespace

Status StreamGroupsReader::Add(std::string_view row, std::string_view value) {
  std::string_view rest = row.substr(kRowIdBytes);
  const char kind = rest.empty() ? '\0' : rest.front();
  if (std::string_view("gcpqt").find(kind) == std::string_view::npos) return on_row_(row, value);
  rest.remove_prefix(1);
  if (kind == 'g') return AddGroup(rest, value);
  uint32_t number = 0;
  if (!ReadU32(rest, number)) return Bad("a row of a consumer group is cut short");
  Group& group = groups_[number];
  if (kind == 'p') {
    return rest.size() == kEntryIdBytes ? AddPending(group, row, value)
                                        : Bad("a pending entry's row has another length");
  }
  if (kind == 'c') {
    StreamConsumer consumer = TRY(DecodeStreamConsumer(rest, value));
    group.consumers[consumer.name].stored = std::move(consumer);
    ++group.stored_consumers;
  } else {
    (kind == 'q' ? group.stored_owned : group.stored_timed).Add(row);
  }
  return Ok();
}

Status StreamGroupsReader::AddGroup(std::string_view name, std::string_view value) {
  const StreamGroupState state = TRY(DecodeStreamGroup(value));
  Group& group = groups_[state.number];
  group.name = name;
  group.stored = state;
  return Ok();
}

Status StreamGroupsReader::AddPending(Group& group, std::string_view row, std::string_view value) {
  if (!group.stored) return Ok();  // Finish reports the group
  StreamId id;
  ReadIdAtEnd(row, id);
  const PendingEntry entry = TRY(DecodePendingEntry(id, value));
  ++group.pending;
  TRY(on_row_(row, value));
  if (group.stored->is_timed) TRY(Make(group.timed, rows_.Timed(group.stored->number, TimeInRow(entry), id)));
  if (entry.nacked) {
    ++group.nacked;
    return Ok();
  }
  const auto [consumer, is_new] = group.consumers.try_emplace(entry.consumer);
  if (is_new) {
    consumer->second.stored = {.name = entry.consumer,
                               .number = group.stored->next_consumer++,
                               .seen_ms = entry.delivered_ms,
                               .active_ms = entry.delivered_ms};
  }
  ++consumer->second.pending;
  return Make(group.owned, rows_.Owned(group.stored->number, consumer->second.stored.number, id));
}

Status StreamGroupsReader::Make(RowSum& sum, const RowKey& row) {
  sum.Add(row.row());
  return on_row_(row.row(), {});
}

Result<uint64_t> StreamGroupsReader::Finish(const OnBadGroup& on_bad_group) {
  uint64_t count = 0;
  for (const auto& [number, group] : groups_) {
    if (!group.stored) {
      on_bad_group("a consumer group has no row with its name");
      continue;
    }
    ++count;
    if (!IsConsistent(group)) {
      on_bad_group(fmt::format(
          "the rows of its consumer group {} disagree ({} pending entries of {}, {} consumers of {})",
          ShowWord(group.name), group.pending, group.stored->pending, group.stored_consumers, group.stored->consumers));
    }
    TRY(PassGroup(group));
  }
  return count;
}

bool StreamGroupsReader::IsConsistent(const Group& group) {
  const bool has_times = group.stored_timed == group.timed || group.stored_timed.count < group.timed.count;
  return group.stored_owned == group.owned && has_times && group.pending == group.stored->pending &&
         group.nacked == group.stored->nacked && group.stored_consumers == group.stored->consumers &&
         std::ranges::all_of(group.consumers,
                             [](const auto& each) { return each.second.pending == each.second.stored.pending; });
}

Status StreamGroupsReader::PassGroup(const Group& group) {
  StreamGroupState state = *group.stored;
  state.pending = group.pending;
  state.nacked = group.nacked;
  state.consumers = group.consumers.size();
  TRY(on_row_(rows_.Group(group.name).row(), EncodeStreamGroup(state)));
  for (const auto& [name, each] : group.consumers) {
    StreamConsumer consumer = each.stored;
    consumer.pending = each.pending;
    TRY(on_row_(rows_.Consumer(state.number, name).row(), EncodeStreamConsumer(consumer)));
  }
  return Ok();
}

}  // namespace cairn
