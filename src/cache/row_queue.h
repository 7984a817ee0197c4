// SPDX-License-Identifier: BSD-3-Clause
//
// RowQueue: an intrusive list of rows of one shard of the key cache, in order of entry. Thread: needs the shard's lock.
#pragma once

#include <cstddef>

#include "cache/cached_row.h"

namespace cairn {

class RowQueue {
 public:
  bool empty() const { return oldest_ == nullptr; }
  CachedRow* oldest() const { return oldest_; }
  size_t bytes() const { return bytes_; }  // sum of CachedRow::memory

  void Add(CachedRow* row) {
    row->older = newest_;
    row->newer = nullptr;
    (newest_ == nullptr ? oldest_ : newest_->newer) = row;
    newest_ = row;
    bytes_ += row->memory();
  }
  // REQUIRES: `old` is in this queue.
  void Replace(const CachedRow* old, CachedRow* row) {
    row->older = old->older;
    row->newer = old->newer;
    (row->older == nullptr ? oldest_ : row->older->newer) = row;
    (row->newer == nullptr ? newest_ : row->newer->older) = row;
    bytes_ += row->memory() - old->memory();
  }
  // REQUIRES: the row is in this queue.
  void Remove(CachedRow* row) {
    (row->older == nullptr ? oldest_ : row->older->newer) = row->newer;
    (row->newer == nullptr ? newest_ : row->newer->older) = row->older;
    bytes_ -= row->memory();
  }

 private:
  CachedRow* oldest_ = nullptr;
  CachedRow* newest_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace cairn
