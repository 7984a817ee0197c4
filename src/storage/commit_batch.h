// SPDX-License-Identifier: BSD-3-Clause
//
// CommitBatch: the commit of a transaction. It writes everything that the transaction's commands wrote to the log as
// one batch, and then makes it visible.
//
// Append writes the batch to the log, still invisible: its stripes stay locked and their versions odd. Publish makes
// it visible and notifies the listener. To share one fsync between several transactions: append them all, call
// WriteAheadLog::MakeDurable, publish them all.
//
// Thread: that of its transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "storage/command_state.h"
#include "storage/commit_actions.h"
#include "storage/database_changes.h"
#include "storage/held_stripes.h"
#include "storage/overlay.h"
#include "storage/replicated_commands.h"
#include "storage/row_uses.h"

namespace rocksdb {
class WriteBatch;
}

namespace cairn {

class Store;

enum class CommitMode : unsigned char {
  kNoWait,  // kWouldWait instead of waiting for a write stall; the transaction stays as it was
  kWait,
  kNoLog,  // waits, and does not write the log: a crash before the next Store::Flush may lose it
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
  size_t rows() const { return parts_.rows.entries().size(); }

  // ---- Transaction::Commit in parts, for any thread. Transaction::EndTick follows
  // Appends and publishes. If commits are synced (WriteAheadLog::SetSyncsCommits), the batch is on disk afterwards.
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

  Status AppendBatch(CommitMode mode);
  void SortEntries();
  Status BuildBatch();
  Status PutKeyspaces();
  void FetchAhead(size_t entry) const;
  void ApplyToCache();
  void DropDeadCounts();
  void NotifyListener();

  const Parts parts_;
  std::unique_ptr<rocksdb::WriteBatch> batch_;
  std::vector<EntryOrder> order_;
  bool is_appended_ = false;  // and not published yet
  uint64_t unsynced_sequence_ = 0;
};

}  // namespace cairn
