// SPDX-License-Identifier: BSD-3-Clause
//
// History: which stream of changes the data is the result of, and how far back it can be told
// again. It is a row of the store (docs/format.md), so that a restart goes on with it.
//
//   history   version:varint (1) id:40 bytes previous_id:40 bytes previous_end:zigzag varint
//             flags:varint (1: changes are logged, 2: the stream is that of a primary)
//             boot:size:varint, bytes    count:varint, count anchors
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

struct History {
  std::string id = std::string(kNoReplicationId);
  // The stream before this one, which was the same up to the byte before `previous_end`; -1: none.
  std::string previous_id = std::string(kNoReplicationId);
  int64_t previous_end = -1;
  bool logs = false;
  bool follows = false;
  std::string boot;  // the machine's run in which it was last written; empty after a clean end
  std::vector<Anchor> anchors;  // ascending

  // The stream becomes another one, which has everything up to `offset` in common with it.
  void Fork(uint64_t offset);
  // Whether a replica of stream `of` that wants the byte `next` (counted from 1) wants one of this.
  bool Covers(std::string_view of, uint64_t next) const;
  // The last anchor from which the byte after `offset` can be reached; null: none.
  const Anchor* AnchorBefore(uint64_t offset) const;
};
std::string EncodeHistory(const History& history);
Result<History> DecodeHistory(std::string_view bytes);

}  // namespace cairn
