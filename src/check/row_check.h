// SPDX-License-Identifier: BSD-3-Clause
//
// RowCheck: checks all rows of a data directory against docs/format.md: records decode, each spread value has its
// owner row and as many rows as its record says, expiries match, and the counts of the databases are right.
//
// The spaces are walked in their order, beside each other where that is the same, so memory does not grow with the
// number of keys. Rows of dead keyspaces and of deleted collections are garbage, which compaction drops, and no damage.
//
// Thread: that of its user.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "check/findings.h"
#include "encoding/record.h"
#include "encoding/row_key.h"
#include "storage/offline_database.h"

namespace cairn {

class CollectionReader;
class OfflineRows;

class RowCheck {
 public:
  using OnProgress = std::function<void(uint64_t rows)>;

  RowCheck(const OfflineDatabase& database, Findings& findings, OnProgress on_progress)
      : database_(database), findings_(findings), on_progress_(std::move(on_progress)) {}

  void Run();

 private:
  void CheckMeta();
  void CheckKeys();
  void CheckKey(std::string_view row, std::string_view value);
  void CheckOwner(std::string_view row, std::string_view record_payload);
  void CheckExpiry(std::string_view row, int64_t when_ms);
  void CheckCollections();
  void CheckCollection(CollectionReader& reader, CollectionId id, std::string_view key_row);
  // Moves behind the rows before `start`, which have no owner; to the end if it is empty.
  void SkipGarbage(OfflineRows& rows, std::string_view start);
  void CheckExpiries();
  void CheckValueOfExpiry(std::string_view key_row, const RecordHeader& header, std::string_view value);
  void CheckCounts();
  // The record of a key row, which must be alive; empty if there is none. Its bytes are in `bytes`.
  bool FindRecord(std::string_view key_row, std::string& bytes, Record& record) const;
  bool IsLive(KeyspaceId keyspace) const;
  std::string NameOf(std::string_view key_row) const;
  void Count() {
    if (++rows_ % 65536 == 0) on_progress_(rows_);
  }

  const OfflineDatabase& database_;
  Findings& findings_;
  const OnProgress on_progress_;
  std::vector<KeyspaceId> keyspaces_;  // by database
  std::map<KeyspaceId, int64_t> stored_counts_;
  std::map<KeyspaceId, int64_t> keys_;  // of live keyspaces
  CollectionId collections_end_ = 0;
  uint64_t rows_ = 0;
  uint64_t garbage_ = 0;
};

// A key for a message: its database if `keyspaces` has it, and its escaped name.
std::string NameKey(std::string_view key_row, const std::vector<KeyspaceId>& keyspaces);

}  // namespace cairn
