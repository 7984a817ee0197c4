// SPDX-License-Identifier: BSD-3-Clause
//
// CompactionScope: the rows that COMPACT works on: all, those of a database, or those of keys that match a pattern.
//
// Rows of keys sort by keyspace and slot, so a database is one range of them, and so is a pattern with a whole hash
// tag before its first wildcard. Rows of collections sort by collection id, in the order in which the collections were
// created. The owners tell which ids are wanted; ids between two wanted ones that no other key owns are included,
// because their collections were deleted.
//
// Thread: any that may wait.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "encoding/row_key.h"

namespace cairn {

class Store;

// Rows from `begin` to `end`; both empty: all rows of the space.
struct CompactionRange {
  Space space;
  std::string begin;
  std::string end;
};

struct CompactionScope {
  std::string name;  // "all", "db0", or the pattern
  bool is_all = false;
  std::vector<CompactionRange> ranges;  // owners first: the filters of the other spaces read them
};

CompactionScope ScopeOfAll();
// Reads all owner rows.
Result<CompactionScope> ScopeOfDatabase(Store& store, int db);
// `pattern` as in KEYS. Reads all owner rows.
Result<CompactionScope> ScopeOfPattern(Store& store, int db, std::string_view pattern);

}  // namespace cairn
