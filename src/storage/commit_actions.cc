// SPDX-License-Identifier: BSD-3-Clause
#include "storage/commit_actions.h"

#include "storage/store.h"

namespace cairn {

void CommitActions::Run(Store& store) const {
  if (changes_ != 0) store.counters().changes.Add(changes_);
  if (adopt_) adopt_();
  for (const StorageMode mode : {StorageMode::kSsd, StorageMode::kMemory}) {
    store.expiry_start(mode).Note(earliest_expiry_ms_);
  }
  for (const CollectionId id : dead_collections_) store.lazy_free().AddCollection(id);
}

void CommitActions::Clear() {
  notes_.clear();
  changes_ = 0;
  dead_collections_.clear();
  ids_end_ = 0;
  earliest_expiry_ms_ = INT64_MAX;
  DropCommand();
}

}  // namespace cairn
