// SPDX-License-Identifier: BSD-3-Clause
//
// History: which stream of changes the data is the result of, and how far back it can be told
// again. It is a row of the store (docs/format.md), so that a restart goes on with it.
//
//   history   version:varint (2) id:40 bytes count:varint, count streams before, the last one first
//             flags:varint (1: changes are logged, 2: the stream is that of a primary)
//             count:varint, count anchors
//   stream    id:40 bytes end:varint
//   anchor    offset:varint sequence:varint db:zigzag varint
//   applied   offset:varint db:zigzag varint        a row of its own, in every batch of a replica
//
// A stream has an id and is counted in bytes from its beginning. An anchor says that the log, read
// from the batch `sequence` on (storage/log_reader.h), tells the stream from the byte after `offset`
// on, database `db` being selected there (-1: none, the next command brings its own).
//
// Thread: any; values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cairn {

inline constexpr std::string_view kHistoryRow = "replication/history";
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

// A stream that was the same as a later one up to the byte before `end`.
struct FormerStream {
  std::string id;
  uint64_t end = 0;
};

struct History {
  std::string id = std::string(kNoReplicationId);
  std::vector<FormerStream> former;  // the last one first; their ends do not grow
  bool logs = false;
  bool is_replica = false;
  std::vector<Anchor> anchors;  // ascending

  // The stream becomes another one, which has everything up to `offset` in common with it. By default of a new name.
  void Fork(uint64_t offset, std::string new_id = DrawReplicationId());
  // The stream is what it was before it forked, if nothing was told of it since: up to `offset` both are the same, and
  // others are more likely to know the former.
  void TakeForkBack(uint64_t offset);
  // The stream becomes another one, of which nothing was told before.
  void StartAnew(std::string new_id = DrawReplicationId());
  // Whether a replica of stream `of` that wants the byte `next` (counted from 1) wants one of this.
  bool Covers(std::string_view of, uint64_t next) const;
  // The last anchor from which the byte after `offset` can be reached; null: none.
  const Anchor* AnchorBefore(uint64_t offset) const;
};
std::string EncodeHistory(const History& history);
Result<History> DecodeHistory(std::string_view bytes);

}  // namespace cairn
