// SPDX-License-Identifier: BSD-3-Clause
//
// CommitBatch: the commit of a transaction. It writes everything that the transaction's commands wrote to the log as
// one batch, and then makes it visible. Rows of databases in memory are a second batch, which is not in the log; a
// commit that fails has written neither.
//
// Append writes the batch to the log, still invisible: its stripes stay locked and their versions odd. Publish makes
// it visible and notifies the listener. To share one fsync between several transactions: append them all, call
// WriteAheadLog::MakeDurable, publish them all.
//
// Thread: that of its transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "encoding/storage_mode.h"
#include "storage/command_state.h"
#include "storage/commit_actions.h"
#include "storage/database_changes.h"
#include "storage/held_stripes.h"
#include "storage/overlay.h"
#include "storage/replicated_commands.h"
#include "storage/row_uses.h"
#include "storage/write_ahead_log.h"

namespace rocksdb {
class WriteBatch;
}

namespace cairn {

class CommitListener;
class Store;

// The error of a commit that the process has no room for.
inline constexpr std::string_view kNoMemoryForCommit =
    "out of memory: the server cannot allocate what the commit needs";

enum class CommitMode : unsigned char {
  kNoWait,  // kWouldWait instead of waiting for a write stall; the transaction stays as it was
  kWait,
  kNoLog,  // waits, and does not write the log: a crash before the next Engine::Flush may lose it
};

class CommitBatch {
 public:
  // The parts of the transaction that the commit reads. They outlive it.
  struct Parts {
    Store& store;
    uint32_t committer;
    const CommandState& command;
    HeldStripes& stripes;
    Overlay& rows;
    ReplicatedCommands& replicated_commands;
    DatabaseChanges& databases;
    RowUses& uses;
    CommitActions& actions;
  };
  explicit CommitBatch(const Parts& parts);
  ~CommitBatch();

  // ---- what is not committed yet
  bool dirty() const;  // whether anything is to be written or counted
  size_t bytes() const { return parts_.rows.bytes() + parts_.replicated_commands.bytes().size(); }
  // Whether the commit is visible only when it is on disk: it wrote while a database on disk was used that has
  // `durability always`, or it changed which keyspaces the databases have.
  bool must_sync() const;
  size_t rows() const { return parts_.rows.entries().size(); }

  // ---- Transaction::Commit in parts, for any thread. Transaction::EndTick follows
  // Appends and publishes. If must_sync(), the batch is on disk afterwards.
  Status Write(CommitMode mode);
  // On an error nothing was written. REQUIRES: each Append that succeeds is followed by Publish.
  Status Append(CommitMode mode);
  void Publish();
  // The last sequence number that was appended to the log but not published; 0: none.
  uint64_t unsynced_sequence() const { return unsynced_sequence_; }

  // ---- storage/transaction.cc calls this
  // Frees memory that the next tick is unlikely to need.
  void Shrink();

 private:
  struct EntryOrder {
    uint64_t rank;   // the row's first bytes after the common prefix
    uint32_t entry;  // index in the overlay
  };

  // The place of a large value in a batch.
  struct MovedValue {
    uint32_t entry;  // index in the overlay
    const rocksdb::WriteBatch* batch;
    size_t offset;
    size_t size;
  };

  Status AppendBatch(CommitMode mode);
  void SortEntries();
  Status BuildBatch();
  Status AddRows();
  // The value is the last one in the batch. Frees its memory in the overlay.
  void MoveLast(uint32_t entry, const rocksdb::WriteBatch& batch);
  void MoveValues();
  Status AddCounts();
  Status AddLogData();
  // The batch for an engine: of the one in memory, or of the one on disk.
  rocksdb::WriteBatch& BatchOf(StorageMode mode) { return mode == StorageMode::kMemory ? *memory_batch_ : *batch_; }
  // Writes both batches. On an error neither was written.
  Status WriteBatches(CommitMode mode);
  Status WriteDiskBatch(CommitMode mode);
  Status WriteMemoryBatch();
  Status PutKeyspaces();
  void FetchAhead(size_t entry) const;
  void ApplyToCache();
  void DropDeadCounts();
  void NotifyListener();
  void NotifyOwner(CommitListener& listener, CollectionId id, const Overlay::Entry& entry);

  const Parts parts_;
  std::unique_ptr<rocksdb::WriteBatch> batch_;
  std::unique_ptr<rocksdb::WriteBatch> memory_batch_;
  std::vector<EntryOrder> order_;
  std::vector<MovedValue> moved_;
  bool is_appended_ = false;  // and not published yet
  uint64_t unsynced_sequence_ = 0;
  std::optional<WriteAheadLog::Unsynced> unsynced_;  // while readers of the log must not see this batch
};

}  // namespace cairn
