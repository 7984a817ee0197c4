// SPDX-License-Identifier: BSD-3-Clause
//
// The values of a consumer group's rows (docs/format.md, section 5.4; types/stream_rows.h has the keys). The server
// (types/stream_group.h) and cairn-check use them.
//
//   group      number last_ms last_seq entries_read pending consumers next_consumer   all varints
//                entries_read: one more than the number of entries read; 0: not known
//              then timed nacked next_nacked, varints, only if one of them is not 0
//                timed: 1 if there are rows by delivery time; nacked: number of pending entries without a consumer
//   consumer   number seen_ms active_ms pending                                       all varints
//                active_ms: one more than the time; 0: it never got anything
//   pending    delivered_ms deliveries, varints, then the consumer's name; without a consumer (XNACK) 2^63 and the
//              entry's place among such entries instead of delivered_ms
//
// Thread: any; values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "encoding/stream_entry.h"
#include "encoding/stream_id.h"

namespace cairn {

struct StreamGroupState {
  uint32_t number = 0;
  StreamId last_id;
  int64_t entries_read = kUnknownEntriesRead;
  uint64_t pending = 0;
  uint64_t consumers = 0;
  uint32_t next_consumer = 0;  // the number of the next new consumer
  bool is_timed = false;       // there are rows by delivery time
  uint64_t nacked = 0;         // of the pending entries, those that XNACK released
  uint64_t next_nacked = 0;    // the place of the next released entry
};

struct StreamConsumer {
  std::string name;
  uint32_t number = 0;
  int64_t seen_ms = 0;               // when it last made a request
  int64_t active_ms = kNeverActive;  // when it last received an entry
  uint64_t pending = 0;
};

// Each decoder returns kCorruption if the value does not decode. The name and the id are in the row key.
Result<StreamGroupState> DecodeStreamGroup(std::string_view value);
Result<StreamConsumer> DecodeStreamConsumer(std::string_view name, std::string_view value);
Result<PendingEntry> DecodePendingEntry(StreamId id, std::string_view value);

std::string EncodeStreamGroup(const StreamGroupState& group);
std::string EncodeStreamConsumer(const StreamConsumer& consumer);
std::string EncodePendingEntry(const PendingEntry& entry);

// The time in the key of the entry's row by delivery time. Released entries come before all others.
int64_t TimeInRow(const PendingEntry& entry);

}  // namespace cairn
