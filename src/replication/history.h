// SPDX-License-Identifier: BSD-3-Clause
//
// History: which stream of changes the data is the result of, and how far back that stream can be sent. It is a row of
// the store (docs/format.md), so it survives a restart.
//
//   history   version:varint (2) id:40 bytes count:varint, count former streams, the newest first
//             flags:varint (1: changes are logged, 2: the stream is that of a primary)
//             count:varint, count anchors
//   stream    id:40 bytes end:varint
//   anchor    offset:varint sequence:varint db:zigzag varint
//   applied   offset:varint db:zigzag varint        a row of its own, in every batch of a replica
//
// A stream has an id, and its bytes are counted from its beginning. An anchor says: the log, read from the batch
// `sequence` on (storage/log_reader.h), yields the stream from the byte after `offset` on, with the database `db`
// selected there (-1: none, the next command selects its own).
//
// Thread: any; values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/format.h"  // kHistoryRow

namespace cairn {

inline constexpr std::string_view kAppliedRow = "replication/applied";
inline constexpr size_t kReplicationIdDigits = 40;
inline constexpr std::string_view kNoReplicationId = "0000000000000000000000000000000000000000";
inline constexpr int kNoDb = -1;

std::string DrawReplicationId();

struct Anchor {
  uint64_t offset = 0;
  uint64_t sequence = 1;
  int db = kNoDb;
};

struct Applied {
  uint64_t offset = 0;
  int db = 0;
};
std::string EncodeApplied(const Applied& applied);
Result<Applied> DecodeApplied(std::string_view bytes);

// A stream that is identical to its successor up to the byte before `end`.
struct FormerStream {
  std::string id;
  uint64_t end = 0;
};

struct History {
  std::string id = std::string(kNoReplicationId);
  std::vector<FormerStream> former;  // the newest first; their ends do not grow
  bool logs = false;
  bool is_replica = false;
  std::vector<Anchor> anchors;  // ascending

  // Starts a new stream that shares everything up to `offset` with the present one.
  void Fork(uint64_t offset, std::string new_id = DrawReplicationId());
  // Reverts the last fork if it was at `offset`: both streams are the same up to there, and other servers are more
  // likely to know the former id.
  void TakeForkBack(uint64_t offset);
  // Starts a new stream that shares nothing with the present one.
  void StartAnew(std::string new_id = DrawReplicationId());
  // Whether this stream can continue stream `of` from the byte `next` (counted from 1).
  bool Covers(std::string_view of, uint64_t next) const;
  // The last anchor at or before `offset`; null: none.
  const Anchor* AnchorBefore(uint64_t offset) const;
};
std::string EncodeHistory(const History& history);
Result<History> DecodeHistory(std::string_view bytes);

}  // namespace cairn
