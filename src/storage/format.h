// SPDX-License-Identifier: BSD-3-Clause
//
// The rows of the meta space (docs/format.md, section 6, since format 1).
//
//   name                                      value
//   format                                    version:varint, then "cairn"
//   databases                                 next_keyspace:varint count:varint, count times keyspace:varint
//   collections                               first id that was never used:varint
//   count/ worker:u32 keyspace:u32            zigzag varint: keys this worker added minus keys it removed
//   compacted                                 sequence:varint unix_ms:varint of the last compaction of everything
//   log                                       empty: the only row of a batch that has log data and no other rows
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "encoding/row_key.h"
#include "encoding/storage_mode.h"

namespace cairn {

inline constexpr uint64_t kFormatVersion = 4;
inline constexpr uint64_t kOldestFormatVersion = 1;  // the oldest that can be read
// Higher than all numbers of keyspaces and of collections, without their modes (encoding/storage_mode.h).
inline constexpr KeyspaceId kKeyspacesEnd = KeyspaceId{1} << kKeyspaceNumberBits;
inline constexpr CollectionId kCollectionsEnd = CollectionId{1} << kCollectionNumberBits;
inline constexpr std::string_view kFormatRow = "format";
inline constexpr std::string_view kDatabasesRow = "databases";
inline constexpr std::string_view kCollectionsRow = "collections";
inline constexpr std::string_view kCountRowPrefix = "count/";
inline constexpr std::string_view kCompactedRow = "compacted";
inline constexpr std::string_view kLogRow = "log";
inline constexpr std::string_view kUnservedRow = "cluster/unserved";    // cluster/unserved_slots.h
inline constexpr std::string_view kHistoryRow = "replication/history";  // replication/history.h

// The format row that this program writes.
std::string EncodeFormat();
// The format row of a copy that is being written by cairn-check --salvage. No program takes it.
std::string EncodeUnfinishedFormat();
// If this program cannot read the store's version: an error that says so to the operator.
Status CheckFormat(std::string_view value);

std::string EncodeDatabases(const std::vector<KeyspaceId>& keyspaces, KeyspaceId next);
Status DecodeDatabases(std::string_view value, std::vector<KeyspaceId>& keyspaces, KeyspaceId& next);

RowKey MakeCountRow(uint32_t worker, KeyspaceId keyspace);
bool ParseCountRow(std::string_view row, uint32_t& worker, KeyspaceId& keyspace);
std::string EncodeCount(int64_t count);
Result<int64_t> DecodeCount(std::string_view value);

}  // namespace cairn
