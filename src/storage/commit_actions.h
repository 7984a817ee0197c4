// SPDX-License-Identifier: BSD-3-Clause
//
// CommitActions: everything that a transaction's commit does besides writing the rows of its commands: notes in its
// batch, and changes in memory once the batch is visible.
//
// Thread: that of its transaction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoding/row_key.h"

namespace cairn {

class Store;

class CommitActions {
 public:
  // Adds to the batch a row of Space::kMeta that has no other writer.
  void PutNote(std::string_view name, std::string value) { notes_[std::string(name)] = std::move(value); }
  // A key got this expiry: the expiry worker must wake up in time for it.
  void NoteExpiry(int64_t expire_ms) { earliest_expiry_ms_ = std::min(earliest_expiry_ms_, expire_ms); }
  // The collection has lost its key. Its rows can be freed after the commit, unless it turns out to be alive.
  void NoteDeadCollection(CollectionId id) { dead_collections_.push_back(id); }
  // A change of something in memory other than rows. The transaction itself sees `pending` from now on; `adopt` makes
  // it visible to all others at the commit, while the stripes are still held. A second call replaces the first.
  // REQUIRES: slow lane, where a tick is one command.
  void SetPending(std::shared_ptr<const void> pending, std::function<void()> adopt) {
    pending_ = std::move(pending);
    adopt_ = std::move(adopt);
  }
  const std::shared_ptr<const void>& pending() const { return pending_; }

  // ---- storage/ calls these
  void NoteNewCollection(CollectionId id) { ids_end_ = std::max(ids_end_, id + 1); }
  void CountChanges(uint64_t changes) { changes_ += changes; }
  // Whether a commit is needed even without rows.
  bool is_needed() const { return !notes_.empty() || changes_ != 0; }
  const std::map<std::string, std::string>& notes() const { return notes_; }
  // Higher than all ids of collections that were created; 0: none was.
  CollectionId ids_end() const { return ids_end_; }
  // Called once the rows are visible to all new reads.
  void Run(Store& store) const;
  void DropCommand() {
    if (pending_ != nullptr) SetPending(nullptr, nullptr);
  }
  void Clear();

 private:
  std::map<std::string, std::string> notes_;
  uint64_t changes_ = 0;
  std::vector<CollectionId> dead_collections_;
  CollectionId ids_end_ = 0;
  int64_t earliest_expiry_ms_ = INT64_MAX;
  std::shared_ptr<const void> pending_;
  std::function<void()> adopt_;
};

}  // namespace cairn
