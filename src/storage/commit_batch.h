// SPDX-License-Identifier: BSD-3-Clause
//
// CommitBatch: the commit of a transaction. What its commands have written becomes one batch in the log, and then what
// everybody sees.
//
// Append writes the batch into the log, and nobody sees it yet: its stripes stay locked, their versions odd. Publish
// makes visible what was appended, and tells the listener. Several transactions share one fsync by it: append them,
// WriteAheadLog::MakeDurable, publish them.
//
// Thread: its transaction's.
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
  kNoLog,  // waits, and leaves the log out: a power loss or a crash before the next Store::Flush may take it
};

class CommitBatch {
 public:
  // The parts of the transaction that it reads. They outlive it.
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
  bool dirty() const;  // is there anything to write or to count?
  size_t bytes() const { return parts_.rows.bytes() + parts_.replicated_commands.bytes().size(); }
  size_t rows() const { return parts_.rows.entries().size(); }

  // ---- Transaction::Commit in parts, for any thread. Transaction::EndTick follows
  // Appends and publishes. What is written is on the disk then if commits are synced (WriteAheadLog::SetSyncsCommits).
  Status Write(CommitMode mode);
  // On an error nothing was written. REQUIRES: after an Append that succeeded, Publish follows.
  Status Append(CommitMode mode);
  void Publish();
  // The last sequence number of what was appended to the log and not published yet; 0: nothing.
  uint64_t unsynced_sequence() const { return unsynced_sequence_; }

  // ---- storage/transaction.cc calls this
  // Gives back memory that is more than the next tick is likely to need.
  void Shrink();

 private:
  struct EntryOrder {
    uint64_t rank;   // the first bytes of the row after what rows share
    uint32_t entry;  // of the overlay
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
  bool is_appended_ = false;  // and not published
  uint64_t unsynced_sequence_ = 0;
};

}  // namespace cairn
