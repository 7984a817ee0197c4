// SPDX-License-Identifier: BSD-3-Clause
//
// An entry of a stream, and what a consumer group knows of one that is pending, as values: the terms that a stream's
// rows (types/) and Redis's bytes (rdb/) share.
//
// Thread: any; values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "encoding/packed.h"
#include "encoding/stream_id.h"

namespace cairn {

// One entry; its items view the bytes it was read from.
struct StreamEntry {
  StreamId id;
  std::vector<std::pair<Item, Item>> fields;
};

// An entry that was delivered to a consumer and is not acknowledged yet.
struct PendingEntry {
  StreamId id;
  std::string consumer;
  int64_t delivered_ms = 0;
  uint64_t deliveries = 0;
};

inline constexpr int64_t kUnknownEntriesRead = -1;  // how much a group has read, where nobody can tell
inline constexpr int64_t kNeverActive = -1;         // when a consumer last got something

}  // namespace cairn
