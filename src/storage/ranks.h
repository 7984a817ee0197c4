// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks: the rows of one spread collection by their position in row order, for ZRANK, ZRANGE by index, SPOP,
// SRANDMEMBER and whatever else would have to count from an end.
//
// Behind it stands a counted index in memory (storage/rank_index.h): leaves of some hundred rows with their
// counts, found by row or by rank in O(log n). It is no part of the data: it starts as one leaf of which only the
// count is known, is refined where it is asked, may be dropped at any time, and is read again from the rows when
// needed. Its memory is charged to the budget.
//
// The index shows the holder's own uncommitted rows too, so every use needs the stripe's lock: the functions
// take it themselves (kWouldWait when it is taken and this is the fast lane). Whoever puts a row that was not
// there or deletes one that was tells the transaction (RankChanges::RowAdded, RowRemoved); forgetting
// to would make ranks wrong. When the rows are taken back, what the index was told is too, or the index goes.
//
// A row is named by its suffix, the row key without the collection id: hash:u32 member in elements, score:u64
// member in scores. Thread: the transaction's.
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
  // `total` is the collection's count of rows in `space` (as of now, own uncommitted changes included).
  Ranks(Transaction& txn, Space space, CollectionId id, uint64_t total, uint32_t stripe)
      : txn_(txn), space_(space), id_(id), total_(total), stripe_(stripe) {}

  // The suffix of the row at `rank`, counted from 0. REQUIRES: rank < total.
  Result<std::string> At(uint64_t rank);

  // Up to `n` consecutive suffixes from `rank` on.
  Result<std::vector<std::string>> Take(uint64_t rank, uint64_t n);

  // How many rows sort before `suffix`, which need not be there.
  Result<uint64_t> RankOf(std::string_view suffix);

 private:
  Transaction& txn_;
  Space space_;
  CollectionId id_;
  uint64_t total_;
  uint32_t stripe_;
};

}  // namespace cairn
