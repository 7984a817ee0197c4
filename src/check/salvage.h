// SPDX-License-Identifier: BSD-3-Clause
//
// Salvage: copies what can be read of a damaged data directory into a new one that a server opens.
//
// The rows of the space keys decide: for each one that decodes, the rows of its value that decode are copied, with a
// record that fits them. Owner rows, expiries, score rows, the counts of databases, and the rows of consumer groups
// that follow from pending entries are made anew, so nothing that has no key is copied. What is lost is printed.
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
#include "storage/offline_rows.h"
#include "storage/row_loader.h"

namespace cairn {

class Salvage {
 public:
  using OnProgress = std::function<void(uint64_t keys)>;

  Salvage(const OfflineDatabase& from, Findings& findings, OnProgress on_progress)
      : from_(from), findings_(findings), on_progress_(std::move(on_progress)) {}

  // Returns the number of keys copied to the new directory `to`. kIo: `to` cannot be written. No server opens a copy
  // that is not complete.
  Result<uint64_t> CopyTo(const std::string& to);

 private:
  OfflineRows Walk(Space space);
  Status CopyMeta();
  Status CopyKey(OfflineRows& elements, OfflineRows& scores, std::string_view row, std::string_view value);
  // Returns the record to write, empty if nothing is left of the value.
  Result<std::string> CopyCollection(OfflineRows& elements, OfflineRows& scores, std::string_view row,
                                     const Record& record);
  Status PutKey(std::string_view row, std::string_view record);
  Status PutMeta();
  bool Takes(KeyspaceId keyspace);
  void Lose(std::string_view row, std::string_view what);

  const OfflineDatabase& from_;
  Findings& findings_;
  const OnProgress on_progress_;
  RowLoader to_;
  std::vector<KeyspaceId> keyspaces_;  // by database
  bool knows_databases_ = false;       // the row `databases` was read
  KeyspaceId next_keyspace_ = 1;
  CollectionId next_collection_ = 1;
  std::map<KeyspaceId, int64_t> counts_;
  uint64_t keys_ = 0;
  uint64_t gaps_ = 0;
};

}  // namespace cairn
