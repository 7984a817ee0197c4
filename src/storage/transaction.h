// SPDX-License-Identifier: BSD-3-Clause
//
// Transaction: all reads and writes of one tick of a worker (an I/O thread, a slow lane thread).
//
// A worker runs many commands on its transaction and commits them together, in one batch (docs/architecture.md, "A
// tick"). Each command is a unit: FinishCommand keeps its writes, AbandonCommand drops them.
//
// Isolation. A writer holds the lock stripes of the keys it writes from its first look at them until the commit. A
// reader takes no lock: it notes each stripe's version, and FinishCommand returns kWouldWait if a version has changed
// or a commit was running, so that the command runs again. On the slow lane commands also lock the keys that they
// read, so they always finish.
//
// Consecutive ticks. While another thread commits a tick, its worker may begin the next one on a second transaction,
// whose predecessor is the first (SetPredecessor). The second takes over the first one's stripes when it needs them,
// sees its rows, and is committed after it. Replies that depend on those rows must wait for both commits
// (CommandState::saw_uncommitted).
//
// Waiting. On the fast lane nothing here waits: a stripe that is held, a block that is not in memory, a used-up work
// budget and a write stall all return kWouldWait.
//
// Thread: one at a time: the worker's, or the committer's between hand-over and completion.
#pragma once

#include <cstdint>
#include <optional>
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
#include "storage/large_commits.h"
#include "storage/notifications.h"
#include "storage/overlay.h"
#include "storage/rank_changes.h"
#include "storage/read_set.h"
#include "storage/replicated_commands.h"
#include "storage/row_uses.h"

namespace cairn {

class Store;
class StoreSnapshot;

// Whether a read counts as a use of the row, which keeps it in the key cache. A peek does not: an overwrite that only
// needs to know the old value.
enum class Access : unsigned char { kUse, kPeek };

class Transaction {
 public:
  // `committer`: the worker's number. No two transactions of a store may have the same number at a time.
  Transaction(Store& store, uint32_t committer);
  // Takes a new number.
  explicit Transaction(Store& store);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // ---- the life of a command
  // `reads`: whether look-ups count as keyspace hits and misses.
  void BeginCommand(Lane lane, int64_t now_ms, bool reads);
  // Locks the stripes for writing, all or none. The slow lane waits, so `stripes` must be all that the command needs.
  Status Lock(std::span<const uint32_t> stripes);
  Status LockAll();
  // Returns kWouldWait if this tick or its predecessor has an uncommitted change of a key in one of the stripes. The
  // commit listener learns of the change at the commit. A command that asked the listener before would miss the
  // change, and a client that parked before would be woken by a change that it has already seen.
  Status AwaitListener(std::span<const uint32_t> stripes);
  // OK: the command's writes are kept. kWouldWait: rows that it read have changed; the caller must call AbandonCommand.
  Status FinishCommand();
  // Whether everything that the command has read so far is unchanged by others. If not, the command must run again and
  // its reply is invalid, even an error. True if the command has read nothing.
  bool ReadsHold() const;
  void AbandonCommand();
  // For a part of a command that may fail by itself, as one in EXEC can: RollbackTo drops writes since MakeSavepoint.
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
  // The row's value is `value` followed by `rest`. A row that is too large to be stored is not written, and the command
  // is refused (CommandState::TakeRefusal). So is a large value on the fast lane: the command runs again on the slow
  // lane, where other clients do not wait for the copies, and where no other tick reads the values that the commit
  // moves. REQUIRES: stripes().Has(row.stripe())
  void Put(const RowKey& row, std::string_view value, std::string_view rest = {});
  void Delete(const RowKey& row);  // REQUIRES: stripes().Has(row.stripe())
  // Rows in [lower, upper). Both bounds are in the same space.
  Cursor Scan(const RowKey& lower, const RowKey& upper, Direction direction = Direction::kForward);
  // Makes later reads see the store as it was at `snapshot`, which must outlive them; null: the present state.
  // REQUIRES: no writes meanwhile; slow lane commands only, and none that locks, because rank indexes and other memory
  // guarded by stripes show the present. Lock() fails.
  void ReadFrom(const StoreSnapshot* snapshot);
  bool reads_snapshot() const { return snapshot_ != nullptr; }

  // A new id for a collection of this keyspace. The commit fails if the disk refuses the note that the id is in use.
  CollectionId NewCollectionId(KeyspaceId keyspace);

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
  // Writes everything and releases the stripes. On an error other than kWouldWait nothing is written, the changes are
  // dropped and the stripes are released.
  Status Commit(CommitMode mode);
  void Discard() { EndTick(false); }
  // Ends a tick whose commit was made in parts (CommitBatch), on the worker's thread: empties the transaction.
  // `written`: whether the writes succeeded. Until then a transaction with this predecessor reads the rows here.
  void EndTick(bool written);
  // `first` is this worker's previous tick, which is being written; null: it has been written. REQUIRES: nothing is
  // pending, and `first` does not change keyspaces (DatabaseChanges::keyspaces).
  void SetPredecessor(const Transaction* first);

 private:
  friend class Cursor;
  bool HasChanged(std::span<const uint32_t> stripes) const;
  bool SharesWithPredecessor(uint32_t stripe);
  void OnLocked();
  Status Observe(uint32_t stripe);
  Result<RowRef> GetCommitted(const RowKey& row, Access access, uint64_t hash);
  bool MayPutLarge(const RowKey& row, size_t value_bytes);
  void UseMemory(const RowKey& row, size_t value_bytes);
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
  std::optional<LargeCommits::Turn> turn_;    // if it has very large values
  const Transaction* predecessor_ = nullptr;  // see SetPredecessor
  const StoreSnapshot* snapshot_ = nullptr;
};

// Begins a slow lane command that holds all stripes. Changes of the databases that were made while it waited for the
// stripes are no reason for FinishCommand to refuse it.
Status BeginAlone(Transaction& txn, int64_t now_ms);
// Begins a command that holds all stripes. Returns WouldWait, and has begun none, if they are not free within
// `most_wait_ms`: a script may hold some for ever.
Status BeginAloneWithin(Transaction& txn, int64_t most_wait_ms);

}  // namespace cairn
