// SPDX-License-Identifier: BSD-3-Clause
//
// An entry of a stream, and a consumer group's state of a pending entry. A stream's rows (types/) and Redis's bytes
// (rdb/) are both converted from and to these values.
//
// Thread: any; values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "encoding/packed.h"
#include "encoding/stream_id.h"

namespace cairn {

// One entry; its items point into the bytes it was read from.
struct StreamEntry {
  StreamId id;
  std::vector<std::pair<Item, Item>> fields;
};

// An entry that was delivered to a consumer and not acknowledged yet.
struct PendingEntry {
  StreamId id;
  std::string consumer;
  // XNACK released the entry: it has no consumer, its delivery time is 0, and it is the next to be claimed. The number
  // is its place among the released entries of the group.
  std::optional<uint64_t> nacked;
  int64_t delivered_ms = 0;
  uint64_t deliveries = 0;
};

inline constexpr int64_t kUnknownEntriesRead = -1;  // the number of entries that a group has read is unknown
inline constexpr int64_t kNeverActive = -1;         // a consumer that never got an entry

}  // namespace cairn
