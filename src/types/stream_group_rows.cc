// SPDX-License-Identifier: BSD-3-Clause
#include "types/stream_group_rows.h"

#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr uint64_t kNackedMark = 1ull << 63;  // added to the place of an entry without a consumer

}  // namespace

Result<StreamGroupState> DecodeStreamGroup(std::string_view value) {
  StreamGroupState group;
  uint64_t number;
  uint64_t entries_read;
  uint64_t next_consumer;
  if (!ReadVarint(value, number) || !ReadStreamId(value, group.last_id) || !ReadVarint(value, entries_read) ||
      !ReadVarint(value, group.pending) || !ReadVarint(value, group.consumers) || !ReadVarint(value, next_consumer) ||
      number > UINT32_MAX || next_consumer > UINT32_MAX) {
    return Status::Corruption("stream group: cut short");
  }
  group.number = static_cast<uint32_t>(number);
  group.entries_read = static_cast<int64_t>(entries_read - 1);
  group.next_consumer = static_cast<uint32_t>(next_consumer);
  if (value.empty()) return group;
  uint64_t timed;
  if (!ReadVarint(value, timed) || !ReadVarint(value, group.nacked) || !ReadVarint(value, group.next_nacked) ||
      timed > 1 || group.nacked > group.pending) {
    return Status::Corruption("stream group: the state of pending entries");
  }
  group.is_timed = timed == 1;
  return group;
}

Result<StreamConsumer> DecodeStreamConsumer(std::string_view name, std::string_view value) {
  StreamConsumer consumer{.name = std::string(name)};
  uint64_t number;
  uint64_t seen;
  uint64_t active;
  if (!ReadVarint(value, number) || !ReadVarint(value, seen) || !ReadVarint(value, active) ||
      !ReadVarint(value, consumer.pending) || number > UINT32_MAX) {
    return Status::Corruption("stream consumer: cut short");
  }
  consumer.number = static_cast<uint32_t>(number);
  consumer.seen_ms = static_cast<int64_t>(seen);
  consumer.active_ms = static_cast<int64_t>(active - 1);
  return consumer;
}

Result<PendingEntry> DecodePendingEntry(StreamId id, std::string_view value) {
  PendingEntry entry{.id = id};
  uint64_t delivered_ms;
  if (!ReadVarint(value, delivered_ms) || !ReadVarint(value, entry.deliveries)) {
    return Status::Corruption("stream pending entry: cut short");
  }
  if (delivered_ms >= kNackedMark) {
    entry.nacked = delivered_ms - kNackedMark;
    if (!value.empty()) return Status::Corruption("stream pending entry: a consumer, although it has none");
    return entry;
  }
  entry.delivered_ms = static_cast<int64_t>(delivered_ms);
  entry.consumer = value;
  return entry;
}

std::string EncodeStreamGroup(const StreamGroupState& group) {
  std::string value;
  AppendVarint(value, group.number);
  AppendStreamId(value, group.last_id);
  AppendVarint(value, static_cast<uint64_t>(group.entries_read) + 1);
  AppendVarint(value, group.pending);
  AppendVarint(value, group.consumers);
  AppendVarint(value, group.next_consumer);
  if (group.is_timed || group.nacked > 0 || group.next_nacked > 0) {
    AppendVarint(value, group.is_timed ? 1 : 0);
    AppendVarint(value, group.nacked);
    AppendVarint(value, group.next_nacked);
  }
  return value;
}

std::string EncodeStreamConsumer(const StreamConsumer& consumer) {
  std::string value;
  AppendVarint(value, consumer.number);
  AppendVarint(value, static_cast<uint64_t>(consumer.seen_ms));
  AppendVarint(value, static_cast<uint64_t>(consumer.active_ms) + 1);
  AppendVarint(value, consumer.pending);
  return value;
}

std::string EncodePendingEntry(const PendingEntry& entry) {
  std::string value;
  AppendVarint(value, entry.nacked ? kNackedMark + *entry.nacked : static_cast<uint64_t>(entry.delivered_ms));
  AppendVarint(value, entry.deliveries);
  value.append(entry.consumer);
  return value;
}

int64_t TimeInRow(const PendingEntry& entry) {
  return entry.nacked ? INT64_MIN + static_cast<int64_t>(*entry.nacked) : entry.delivered_ms;
}

}  // namespace cairn
