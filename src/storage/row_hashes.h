// SPDX-License-Identifier: BSD-3-Clause
//
// RowHashes: which rows an import has written, by the hashes of their tagged keys. What it rules out does not exist, so
// that RocksDB is not asked whether a key or an element is new. That is what a complete key cache says too
// (cache/row_cache.h), but an import reads nothing twice, and a name takes a tenth of a row's memory and time.
//
// It is complete as long as the store was empty when it began and its memory has sufficed; then it rules out nothing
// more. A hash that it has says nothing: RocksDB is asked, so two rows of one hash do no harm.
//
// Thread: that of the only transaction of the store.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_set.h"

namespace cairn {

class RowHashes {
 public:
  explicit RowHashes(size_t capacity_bytes) : most_(capacity_bytes / kBytesPerRow) {}

  // The store has no row at present.
  void NoteEmptyStore() { complete_ = true; }
  // Whether no row of this hash (Overlay::HashOf) exists.
  bool RulesOut(uint64_t hash) const { return complete_ && !hashes_.contains(hash); }
  // A row was written.
  void Add(uint64_t hash) {
    if (!complete_) return;
    hashes_.insert(hash);
    if (hashes_.size() < most_) return;
    complete_ = false;
    absl::flat_hash_set<uint64_t, TheHash>().swap(hashes_);
  }

 private:
  // While the table grows: twice as many places as were full, and the old ones beside them, of 9 bytes each.
  static constexpr size_t kBytesPerRow = 32;
  struct TheHash {
    size_t operator()(uint64_t hash) const { return hash; }
  };

  const size_t most_;
  bool complete_ = false;
  absl::flat_hash_set<uint64_t, TheHash> hashes_;
};

}  // namespace cairn
