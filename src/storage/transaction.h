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
// and it is committed after it. What it then answers must wait for both commits (saw_uncommitted()).
//
// Waiting. On the fast lane nothing here waits: a stripe that is taken, a block that is not in memory, a used-up
// work budget and a write stall all answer kWouldWait.
//
// Thread: one at a time, the worker's (or, between hand-over and completion, the committer's).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cache/row_ref.h"
#include "encoding/row_key.h"
#include "storage/announcements.h"
#include "storage/cursor.h"
#include "storage/database_changes.h"
#include "storage/effects.h"
#include "storage/held_stripes.h"
#include "storage/interest.h"
#include "storage/overlay.h"
#include "storage/rank_changes.h"
#include "storage/row_uses.h"

namespace rocksdb {
class WriteBatch;
}

namespace cairn {

class Store;
class StoreSnapshot;

enum class Lane : unsigned char { kFast, kSlow };

// How much a look at a row says about its being wanted again: a use keeps it in the key cache, a peek (an
// overwrite that only needs to know what was there) does not.
enum class Access : unsigned char { kUse, kPeek };

enum class CommitMode : unsigned char {
  kNoWait,  // kWouldWait instead of waiting for a write stall; the transaction stays as it was
  kWait,
  kNoLog,   // waits, and leaves the log out: a power loss or a crash before the next Store::Flush may take it
};

class Transaction {
 public:
  // `committer` numbers the workers of a store; no two live transactions share one.
  Transaction(Store& store, uint32_t committer);
  // With a number of its own.
  explicit Transaction(Store& store);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // ---- the life of a command
  // `reads` says that look-ups count as keyspace hits and misses.
  void BeginCommand(Lane lane, int64_t now_ms, bool reads);
  // The command, which only reads, ends with an error at its next step once the flag is true: nobody wants its answer.
  void StopAt(const bool* flag) { command_.stop = flag; }
  // Takes the stripes for writing, all or none. Slow lane: waits, so `stripes` must be all the command needs.
  Status Lock(std::span<const uint32_t> stripes);
  Status LockAll();
  // Begins a command of the slow lane that holds all stripes. It sees the databases as they are then, so what others
  // did to them while it waited is no reason for FinishCommand to refuse it.
  Status BeginAlone(int64_t now_ms);
  // Whether the command looked at a key that this tick, or the one it follows, has changed or may have.
  bool saw_uncommitted() const { return command_.saw_uncommitted; }
  // Whether the command was kWouldWait for a key that another transaction holds.
  bool met_lock() const { return command_.met_lock; }
  // The tagged row the command was kWouldWait for because it is not in memory; empty when that was not why.
  std::string TakeMissingRow() { return std::exchange(missing_row_, {}); }
  // kWouldWait when this tick or the one it follows has changed a key of one of the stripes. The commit listener hears
  // of that at the commit: too late for who asks it now, and wrongly for who registers now.
  Status AwaitListener(std::span<const uint32_t> stripes);
  // True when this transaction holds the stripe.
  bool Holds(uint32_t stripe) const { return stripes_.Has(stripe); }
  // OK keeps what the command wrote. kWouldWait: what it read has changed; the caller must Abandon.
  Status FinishCommand();
  // Whether all the command has read so far is of one state and still so. What a command concludes from reads that
  // do not hold means nothing, an error least of all. Of a command that reads nothing they always hold.
  bool ReadsHold() const;
  void AbandonCommand();
  // A part of a command that may fail by itself (one command of an EXEC): what was written since the
  // savepoint can be dropped.
  struct Savepoint {
    size_t overlay;
    size_t rank_changes;
    std::vector<KeyCountDelta> counts;
    size_t announcements;
    Effects::Mark effects;
    uint64_t changes;
  };
  Savepoint MakeSavepoint() const;
  void RollbackTo(const Savepoint& savepoint);

  Lane lane() const { return command_.lane; }
  int64_t now_ms() const { return command_.now_ms; }  // fixed for the command
  int64_t now_s() const { return command_.now_ms / 1000; }

  // ---- rows
  Result<RowRef> Get(const RowKey& row, Access access = Access::kUse);
  // A row that is too large to be stored is not written, and the command is refused (TakeRefusal). REQUIRES:
  // Holds(row.stripe())
  void Put(const RowKey& row, std::string_view value);
  void Delete(const RowKey& row);                       // REQUIRES: Holds(row.stripe())
  // Why what the command, or a part of it, has written or told cannot be stored: the client's error. OK when it can.
  // The writes of that part must be taken back.
  Status TakeRefusal();
  // The collection has lost its key: once that is committed, what it leaves behind can be given back. A hint; a
  // collection that is alive after all loses nothing but its place in the cache.
  void NoteDeadCollection(CollectionId id);
  // Rows in [lower, upper). Both bounds are in the same space.
  Cursor Scan(const RowKey& lower, const RowKey& upper, Direction direction = Direction::kForward);
  // Takes `steps` from the fast lane's work budget; kWouldWait when it is used up.
  Status Spend(uint64_t steps);
  // Takes what so many reads of tables cost from it; at most all there is left.
  void SpendReads(uint64_t reads);

  // From here on reads see the store as it was at `snapshot`, which must outlive that; null: as it is. REQUIRES:
  // nothing is written meanwhile, commands are of the slow lane and lock nothing: what stripes guard in memory, such as
  // rank indexes, is of now. Lock() fails.
  void ReadFrom(const StoreSnapshot* snapshot);
  bool reads_snapshot() const { return snapshot_ != nullptr; }

  // Has the processor fetch into its cache what locking and reading the row will touch first; the row's hash, to be
  // given to PrefetchRow somewhat later. Both are hints, and need no lock.
  uint64_t Prefetch(const RowKey& row) const;
  void PrefetchRow(uint64_t hash);

  // ---- what is not a row
  // The commit fails when the disk does not take the note that the id is in use.
  CollectionId NewCollectionId();
  KeyspaceId keyspace(int db) const { return databases_.keyspace(db); }
  DatabaseChanges& databases() { return databases_; }
  const DatabaseChanges& databases() const { return databases_; }
  RankChanges& ranks() { return ranks_; }
  RowUses& uses() { return uses_; }

  Store& store() { return store_; }

  // For INFO's keyspace_hits and keyspace_misses; counted once the command has finished.
  void CountLookup(bool hit) { ++(hit ? command_.hits : command_.misses); }
  // A key was deleted or replaced because its time had passed.
  void CountExpired() { ++command_.expired; }
  // How often the command has changed something, for INFO's rdb_changes_since_last_save.
  void CountChanges(uint64_t changes) { command_.changes += changes; }
  // A key got this expiry: the expiry worker must look at it in time.
  void NoteExpiry(int64_t expire_ms) { earliest_expiry_ms_ = std::min(earliest_expiry_ms_, expire_ms); }

  // ---- what others are told of the changes
  // What they want to hear (storage/interest.h), as it was when the command got its stripes.
  InterestMask interest() const { return effects_.Of(command_.interest); }
  // REQUIRES, of Add: interest() has kInterestInEffects.
  Effects& effects() { return effects_; }
  const Effects& effects() const { return effects_; }
  Announcements& announcements() { return announcements_; }
  const Announcements& announcements() const { return announcements_; }
  // Keys past their time count as there: when they go is their primary's to say.
  void KeepExpired(bool keeps) { keeps_expired_ = keeps; }
  bool keeps_expired() const { return keeps_expired_; }
  // Whether a key or field that has this deadline is gone. Where they are kept, only a primary says so: a command may
  // be carried out long after it was given, and the next one may prolong what it is about.
  bool HasPassed(int64_t when_ms) const { return when_ms <= command_.now_ms && !(keeps_expired_ && when_ms > 0); }
  // A row of Space::kMeta that nobody else writes, to be in the batch.
  void PutNote(std::string_view name, std::string value) { notes_[std::string(name)] = std::move(value); }
  // Something in memory that the commit replaces, besides rows: what the transaction itself sees from now on, and
  // what makes it so for all others, called while the stripes are still held. REQUIRES: slow lane, where a tick is one
  // command; a second call takes the place of the first.
  void SetPending(std::shared_ptr<const void> pending, std::function<void()> adopt) {
    pending_ = std::move(pending);
    adopt_ = std::move(adopt);
  }
  const std::shared_ptr<const void>& pending() const { return pending_; }

  // ---- the tick
  bool dirty() const;                          // is there anything to write or to count?
  size_t pending_bytes() const { return overlay_.bytes() + effects_.bytes().size(); }
  size_t pending_rows() const { return overlay_.entries().size(); }
  bool has_stripes() const { return !stripes_.empty(); }
  // Writes everything and releases the stripes; what is written is on the disk then if commits are synced
  // (Store::SetSyncsCommits). On an error other than kWouldWait nothing was written, the
  // changes are dropped and the stripes released.
  Status Commit(CommitMode mode);
  void Discard();

  // Commit in parts. Write is for any thread and leaves what was written readable for a transaction that follows;
  // EndTick, on the worker's thread, empties this one. `written` is whether Write succeeded.
  Status Write(CommitMode mode);
  void EndTick(bool written);
  // Write in parts, for several transactions that share one fsync: append them, Store::MakeDurable, publish them.
  // Append writes the batch into the log, and nobody sees it yet; its stripes stay locked, their versions odd. On an
  // error nothing was written. Publish makes visible what was appended, and tells the listener. REQUIRES: after an
  // Append that succeeded, Publish follows.
  Status Append(CommitMode mode);
  void Publish();
  // The last sequence number of what was appended to the log and not published yet; 0: nothing.
  uint64_t unsynced_sequence() const { return unsynced_sequence_; }
  // Whether another may follow while this one is written. A tick that gives databases other keyspaces stands alone.
  bool can_be_followed() const { return databases_.keyspaces().empty(); }
  // `first`, which is being written, is this worker's tick before this one; null: it has been. REQUIRES: nothing is
  // pending when it is set.
  void Follow(const Transaction* first);
  bool follows() const { return first_ != nullptr; }
  // Whether something was taken over from the one it follows, so that it must fail if that one does.
  bool has_taken_over() const { return stripes_.has_taken_over(); }

 private:
  friend class Cursor;
  struct Observed {
    uint32_t stripe;
    uint64_t version;
  };
  struct EntryOrder {
    uint64_t rank;   // the first bytes of the row after what rows share
    uint32_t entry;  // of the overlay
  };
  // What belongs to one command; BeginCommand makes it new. Beside it are observed_ and missing_row_, which keep their
  // memory.
  struct CommandState {
    Lane lane = Lane::kFast;
    bool reads = false;
    bool saw_uncommitted = false;
    bool met_lock = false;
    int64_t now_ms = 0;
    uint64_t steps_left = 0;
    const bool* stop = nullptr;  // StopAt
    uint64_t hits = 0;
    uint64_t misses = 0;
    uint64_t expired = 0;
    uint64_t changes = 0;
    InterestMask interest = 0;
    size_t uses_before = 0;
    std::string_view refusal;  // a literal; empty: none
  };

  bool HasChanged(std::span<const uint32_t> stripes) const;
  bool SharesWithFirst(uint32_t stripe);
  void OnLocked();
  Status Observe(uint32_t stripe);
  Result<RowRef> GetCommitted(const RowKey& row, Access access, uint64_t hash);
  void Admit(const RowKey& row, uint64_t hash, std::string_view value, Access access);
  Status AppendBatch(CommitMode mode);
  void SortEntries();
  Status BuildBatch();
  Status PutKeyspaces();
  void NotifyListener();
  void FetchAhead(size_t entry) const;
  void ApplyToCache();
  void Reset();

  Store& store_;
  const uint32_t committer_;
  HeldStripes stripes_;
  Overlay overlay_;
  Effects effects_{stripes_};
  Announcements announcements_;
  DatabaseChanges databases_;
  RankChanges ranks_;
  RowUses uses_;
  const Transaction* first_ = nullptr;  // the one it follows
  const StoreSnapshot* snapshot_ = nullptr;
  bool keeps_expired_ = false;

  CommandState command_;
  std::string missing_row_;
  std::vector<Observed> observed_;

  // Of all commands since the last commit:
  uint64_t changes_ = 0;
  std::vector<CollectionId> dead_collections_;
  CollectionId ids_end_ = 0;                  // above all ids that were drawn; 0: none
  std::map<std::string, std::string> notes_;  // meta rows
  int64_t earliest_expiry_ms_ = INT64_MAX;
  std::shared_ptr<const void> pending_;
  std::function<void()> adopt_;

  // Of the commit:
  std::unique_ptr<rocksdb::WriteBatch> batch_;
  std::vector<EntryOrder> order_;
  bool is_appended_ = false;  // and not published
  uint64_t unsynced_sequence_ = 0;
};

}  // namespace cairn
