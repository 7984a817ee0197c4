// SPDX-License-Identifier: BSD-3-Clause
//
// Transaction: everything one tick of a worker (an I/O thread, a slow lane thread) reads and writes.
//
// A worker runs many commands on its transaction and commits them together, in one batch (docs/architecture.md,
// "A tick"). Within it a command is a unit of its own: BeginCommand .. FinishCommand keeps what it wrote,
// AbandonCommand drops it and nothing has happened.
//
// Isolation. A writer holds the lock stripes of the keys it writes from its first look at them until the commit.
// A reader takes no lock: it notes each stripe's version, and FinishCommand says kWouldWait when one has
// changed since or a commit was under way, so that the command runs again. On the slow lane commands lock what
// they read as well, so they always finish.
//
// Ticks in a row. While a tick is being committed by another thread its worker may begin the next one on a second
// transaction that Follows() the first: it takes over the first one's stripes when it needs them and sees its rows,
// and it is committed after it. What it then answers must wait for both commits (CommandState::saw_uncommitted).
//
// Waiting. On the fast lane nothing here waits: a stripe that is taken, a block that is not in memory, a used-up
// work budget and a write stall all answer kWouldWait.
//
// Thread: one at a time, the worker's (or, between hand-over and completion, the committer's).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "cache/row_ref.h"
#include "encoding/row_key.h"
#include "storage/command_state.h"
#include "storage/commit_actions.h"
#include "storage/commit_batch.h"
#include "storage/cursor.h"
#include "storage/database_changes.h"
#include "storage/held_stripes.h"
#include "storage/notifications.h"
#include "storage/overlay.h"
#include "storage/rank_changes.h"
#include "storage/read_set.h"
#include "storage/replicated_commands.h"
#include "storage/row_uses.h"

namespace cairn {

class Store;
class StoreSnapshot;

// Whether a read of a row is a reason to keep it in the key cache. A use is one; a peek is not (an overwrite that only
// needs to know what was there).
enum class Access : unsigned char { kUse, kPeek };

class Transaction {
 public:
  // `committer`: the number of the worker. No two transactions of a store have the same at a time.
  Transaction(Store& store, uint32_t committer);
  // With a number of its own.
  explicit Transaction(Store& store);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // ---- the life of a command
  // `reads` says that look-ups count as keyspace hits and misses.
  void BeginCommand(Lane lane, int64_t now_ms, bool reads);
  // Takes the stripes for writing, all or none. Slow lane: waits, so `stripes` must be all the command needs.
  Status Lock(std::span<const uint32_t> stripes);
  Status LockAll();
  // kWouldWait when this tick, or the one it follows, has changed a key of one of the stripes and is not committed yet.
  // The commit listener is told of the change at the commit. A command that asked the listener before would miss the
  // change, and one that began to wait before would be woken by a change that it has already seen.
  Status AwaitListener(std::span<const uint32_t> stripes);
  // OK keeps what the command wrote. kWouldWait: what it read has changed; the caller must Abandon.
  Status FinishCommand();
  // Whether nothing that the command has read so far was changed by others since. If something was, the command must
  // run again, and its reply counts for nothing, also when it is an error. True for a command that has read nothing.
  bool ReadsHold() const;
  void AbandonCommand();
  // For a part of a command that may fail by itself, such as one command of an EXEC: RollbackTo drops what was written
  // since MakeSavepoint.
  struct Savepoint {
    size_t overlay;
    size_t rank_changes;
    std::vector<KeyCountDelta> counts;
    size_t notifications;
    ReplicatedCommands::Mark replicated_commands;
    uint64_t changes;
  };
  Savepoint MakeSavepoint() const;
  void RollbackTo(const Savepoint& savepoint);

  // ---- rows
  Result<RowRef> Get(const RowKey& row, Access access = Access::kUse);
  // A row that is too large to be stored is not written, and the command is refused (CommandState::TakeRefusal).
  // REQUIRES: stripes().Has(row.stripe())
  void Put(const RowKey& row, std::string_view value);
  void Delete(const RowKey& row);  // REQUIRES: stripes().Has(row.stripe())
  // Rows in [lower, upper). Both bounds are in the same space.
  Cursor Scan(const RowKey& lower, const RowKey& upper, Direction direction = Direction::kForward);
  // From here on reads see the store as it was at `snapshot`, which must outlive that; null: as it is. REQUIRES:
  // nothing is written meanwhile, commands are of the slow lane and lock nothing: what stripes guard in memory, such as
  // rank indexes, is of now. Lock() fails.
  void ReadFrom(const StoreSnapshot* snapshot);
  bool reads_snapshot() const { return snapshot_ != nullptr; }

  // A new one. The commit fails when the disk does not take the note that the id is in use.
  CollectionId NewCollectionId();

  // ---- its parts
  CommandState& command() { return command_; }
  const HeldStripes& stripes() const { return stripes_; }
  DatabaseChanges& databases() { return databases_; }
  RankChanges& ranks() { return ranks_; }
  RowUses& uses() { return uses_; }
  ReplicatedCommands& replicated_commands() { return replicated_commands_; }
  Notifications& notifications() { return notifications_; }
  CommitActions& on_commit() { return on_commit_; }
  CommitBatch& batch() { return batch_; }
  Store& store() { return store_; }

  // ---- the tick
  // Writes everything and releases the stripes. On an error other than kWouldWait nothing was written, the changes are
  // dropped and the stripes released.
  Status Commit(CommitMode mode);
  void Discard() { EndTick(false); }
  // The end of a commit in parts (CommitBatch), on the worker's thread: empties the transaction. `written` is whether
  // its writes succeeded. Up to then a transaction that follows reads them here.
  void EndTick(bool written);
  // `first`, which is being written, is this worker's tick before this one; null: it has been. REQUIRES: nothing is
  // pending when it is set, and `first` does not change keyspaces (DatabaseChanges::keyspaces).
  void SetPredecessor(const Transaction* first);

 private:
  friend class Cursor;
  bool HasChanged(std::span<const uint32_t> stripes) const;
  bool SharesWithPredecessor(uint32_t stripe);
  void OnLocked();
  Status Observe(uint32_t stripe);
  Result<RowRef> GetCommitted(const RowKey& row, Access access, uint64_t hash);
  void Admit(const RowKey& row, uint64_t hash, std::string_view value, Access access);

  Store& store_;
  CommandState command_;
  HeldStripes stripes_;
  ReadSet reads_;
  Overlay overlay_;
  ReplicatedCommands replicated_commands_{stripes_, command_};
  Notifications notifications_;
  DatabaseChanges databases_;
  RankChanges ranks_;
  RowUses uses_;
  CommitActions on_commit_;
  CommitBatch batch_;
  const Transaction* predecessor_ = nullptr;  // the one it follows
  const StoreSnapshot* snapshot_ = nullptr;
};

// Begins a command of the slow lane that holds all stripes. It sees the databases as they are then, so what others did
// to them while it waited is no reason for FinishCommand to refuse it.
Status BeginAlone(Transaction& txn, int64_t now_ms);

}  // namespace cairn
