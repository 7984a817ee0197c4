// SPDX-License-Identifier: BSD-3-Clause
//
// RowEngines: the engines that hold the rows of a store, and the one of each row. The mode in a row's key chooses it
// (encoding/storage_mode.h). This is the seam of engines: nothing else knows that there is more than one.
//
// The engine on disk also holds the meta rows and the log. The engine in memory has neither: its rows, with the key
// counts of their databases, end with the process. Commands on them are in the log only for replicas.
//
// A commit to both engines writes two batches, and a snapshot of the store is one of each engine. `commit_mutex`
// keeps a snapshot from falling between the two batches.
//
// Thread: any, except where a function says otherwise.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"
#include "encoding/row_key.h"
#include "encoding/storage_mode.h"
#include "storage/engine.h"

namespace rocksdb {
class Iterator;
class PinnableSlice;
}  // namespace rocksdb

namespace cairn {

// A column family of an engine.
struct RowPlace {
  rocksdb::DB& db;
  rocksdb::ColumnFamilyHandle* family;
};

class RowEngines {
 public:
  RowEngines(Engine& disk, Engine::FilterOf filter_of) : disk_(disk), filter_of_(std::move(filter_of)) {}

  // Makes the engine, or the column families, for rows of this mode, if there are none. Not for several threads at
  // once.
  Status Provide(StorageMode mode);
  // Ends the engine in memory and frees its rows. No other function may be called afterwards.
  void CloseMemory();

  const Engine::FilterOf& filter_of() const { return filter_of_; }
  // Null while no database is in memory.
  Engine* memory() const { return memory_.load(std::memory_order_acquire); }
  Engine& Of(StorageMode mode) const {
    Engine* const memory = mode == StorageMode::kMemory ? this->memory() : nullptr;
    return memory != nullptr ? *memory : disk_;
  }
  RowPlace PlaceOf(Space space, StorageMode mode) const {
    const Engine& engine = Of(mode);
    return {engine.db(), engine.family(space, mode)};
  }
  // The place of a row, or of the rows between bounds of one mode.
  RowPlace PlaceOf(Space space, std::string_view row) const { return PlaceOf(space, ModeOfRow(space, row)); }
  rocksdb::Status Get(const rocksdb::ReadOptions& options, Space space, std::string_view row,
                      rocksdb::PinnableSlice& value) const;

  // Held by a commit that writes to the engine in memory, and by the start of a snapshot.
  SharedMutex& commit_mutex() ABSL_LOCK_RETURNED(commit_mutex_) { return commit_mutex_; }

  // ---- the engine in memory
  // Bytes of its tables, and of these and its memtables.
  uint64_t MemoryTableBytes() const;
  uint64_t MemoryBytes() const;
  // Grows with every write. REQUIRES: there is one, as for CompactMemory.
  uint64_t MemorySequence() const;
  // Drops rows that were deleted or overwritten. Waits.
  Status CompactMemory();

 private:
  Engine& disk_;
  const Engine::FilterOf filter_of_;
  std::unique_ptr<Engine> owned_;
  std::atomic<Engine*> memory_{nullptr};
  SharedMutex commit_mutex_;
};

}  // namespace cairn
