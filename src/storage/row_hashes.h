// SPDX-License-Identifier: BSD-3-Clause
//
// RowHashes: the hashes of the row keys that an import has written. A row whose hash is missing does not exist, so an
// import need not ask RocksDB whether a key or element is new. A complete key cache gives the same answer
// (cache/row_cache.h), but an import reads nothing twice, and a hash takes a tenth of a row's memory and time.
//
// The set is complete if the store was empty at the start and its memory was sufficient; otherwise it rules out
// nothing. If a hash is in the set, RocksDB is asked, so two rows with the same hash do no harm.
//
// Thread: that of the store's only transaction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_set.h"

namespace cairn {

class RowHashes {
 public:
  explicit RowHashes(size_t capacity_bytes) : most_(capacity_bytes / kBytesPerRow) {}

  // The store has no row now.
  void NoteEmptyStore() { complete_ = true; }
  // Whether no row of this hash (Overlay::HashOf) exists.
  bool RulesOut(uint64_t hash) const { return complete_ && !hashes_.contains(hash); }
  // Called when a row was written.
  void Add(uint64_t hash) {
    if (!complete_) return;
    hashes_.insert(hash);
    if (hashes_.size() < most_) return;
    complete_ = false;
    absl::flat_hash_set<uint64_t, TheHash>().swap(hashes_);
  }

 private:
  // While the table grows, it has twice the full number of slots beside the old ones, at 9 bytes each.
  static constexpr size_t kBytesPerRow = 32;
  struct TheHash {
    size_t operator()(uint64_t hash) const { return hash; }
  };

  const size_t most_;
  bool complete_ = false;
  absl::flat_hash_set<uint64_t, TheHash> hashes_;
};

}  // namespace cairn
