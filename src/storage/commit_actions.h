// SPDX-License-Identifier: BSD-3-Clause
//
// CommitActions: what the commit of a transaction does besides writing the rows of its commands: notes in its batch,
// and what happens in memory once the batch is visible.
//
// Thread: its transaction's.
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
  // A row of Space::kMeta that nobody else writes, to be in the batch.
  void PutNote(std::string_view name, std::string value) { notes_[std::string(name)] = std::move(value); }
  // A key got this expiry: the expiry worker must look at it in time.
  void NoteExpiry(int64_t expire_ms) { earliest_expiry_ms_ = std::min(earliest_expiry_ms_, expire_ms); }
  // The collection has lost its key: once that is committed, what it leaves behind can be given back. A hint; a
  // collection that is alive after all loses nothing but its place in the cache.
  void NoteDeadCollection(CollectionId id) { dead_collections_.push_back(id); }
  // Something in memory that the commit replaces, besides rows: what the transaction itself sees from now on, and
  // what makes it so for all others, called while the stripes are still held. REQUIRES: slow lane, where a tick is one
  // command; a second call takes the place of the first.
  void SetPending(std::shared_ptr<const void> pending, std::function<void()> adopt) {
    pending_ = std::move(pending);
    adopt_ = std::move(adopt);
  }
  const std::shared_ptr<const void>& pending() const { return pending_; }

  // ---- storage/ calls these
  void NoteNewCollection(CollectionId id) { ids_end_ = std::max(ids_end_, id + 1); }
  void CountChanges(uint64_t changes) { changes_ += changes; }
  // Whether a commit has something to do without any row.
  bool is_needed() const { return !notes_.empty() || changes_ != 0; }
  const std::map<std::string, std::string>& notes() const { return notes_; }
  // Above all ids of collections that were drawn; 0: none.
  CollectionId ids_end() const { return ids_end_; }
  // What was written is visible to all whose reads begin now.
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
