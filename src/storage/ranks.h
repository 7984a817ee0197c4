// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks: finds rows of one spread collection by their position in row order, for ZRANK, ZRANGE by index, SPOP,
// SRANDMEMBER and other commands that would have to count from an end.
//
// It uses a counted index in memory (storage/rank_index.h): leaves of some hundred rows with their counts, found by row
// or by rank in O(log n). The index is not part of the data: it starts as one leaf with a count, is refined where it is
// used, may be dropped at any time, and is rebuilt from the rows when needed. The budget covers its memory.
//
// The index includes the holder's own uncommitted rows, so every use needs the stripe's lock: the functions take it
// themselves (kWouldWait on the fast lane if another transaction has it). A caller that puts a new row or deletes an
// existing one must report that to the transaction (RankChanges::RowAdded, RowRemoved); otherwise ranks become wrong.
// When the rows are rolled back, the index is restored or dropped.
//
// A row is named by its suffix, the row key without the collection id: hash:u32 member in elements, score:u64 member
// in scores. Thread: that of the transaction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "encoding/row_key.h"

namespace cairn {

class Transaction;

class Ranks {
 public:
  // `total`: the collection's current number of rows in `space`, with own uncommitted changes.
  Ranks(Transaction& txn, Space space, CollectionId id, uint64_t total, uint32_t stripe)
      : txn_(txn), space_(space), id_(id), total_(total), stripe_(stripe) {}

  // The suffix of the row at `rank`, counted from 0. REQUIRES: rank < total.
  Result<std::string> At(uint64_t rank);

  // Up to `n` consecutive suffixes from `rank` on.
  Result<std::vector<std::string>> Take(uint64_t rank, uint64_t n);

  // The number of rows that sort before `suffix`, which need not exist.
  Result<uint64_t> RankOf(std::string_view suffix);

 private:
  Transaction& txn_;
  Space space_;
  CollectionId id_;
  uint64_t total_;
  uint32_t stripe_;
};

}  // namespace cairn
