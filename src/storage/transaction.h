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
#include "storage/cursor.h"
#include "storage/interest.h"
#include "storage/overlay.h"

namespace rocksdb {
class WriteBatch;
}

namespace cairn {

class RankIndex;
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

// A key that is there although its time has passed. `row` is its row without the tag.
struct StaleKey {
  std::string row;
  bool missed;
  size_t place = 0;  // the bytes of effects before it was met
  int db = -1;       // then; -1: none has it
};

struct KeyCountDelta {
  KeyspaceId keyspace;
  int64_t delta;
};

// What others are to be told once the tick is committed: a message for a channel. It means nothing to storage, which
// only sees to it that no more is told than has happened.
enum class AnnouncementKind : unsigned char {
  kMessage,
  kShardMessage,
  kKeyChanged,
  kKeyRead,  // with all that was announced before, by a client that keeps a copy
  kAllChanged,
  kKeyExpires,  // the key row is the channel, the Unix time in ms the source
  kFieldsExpire,  // of a hash, likewise: when the first of them does
};
struct Announcement {
  AnnouncementKind kind;
  std::string channel;  // of a message; else the key
  std::string message;
  uint64_t source = 0;  // the client that changed or read the key; 0: nobody
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
  void StopAt(const bool* flag) { stop_ = flag; }
  // Takes the stripes for writing, all or none. Slow lane: waits, so `stripes` must be all the command needs.
  Status Lock(std::span<const uint32_t> stripes);
  Status LockAll();
  // Begins a command of the slow lane that holds all stripes. It sees the databases as they are then, so what others
  // did to them while it waited is no reason for FinishCommand to refuse it.
  Status BeginAlone(int64_t now_ms);
  // Whether the command looked at a key that this tick, or the one it follows, has changed or may have.
  bool saw_uncommitted() const { return saw_uncommitted_; }
  // Whether the command was kWouldWait for a key that another transaction holds.
  bool met_lock() const { return met_lock_; }
  // The tagged row the command was kWouldWait for because it is not in memory; empty when that was not why.
  std::string TakeMissingRow() { return std::exchange(missing_row_, {}); }
  // kWouldWait when this tick or the one it follows has changed a key of one of the stripes. The commit listener hears
  // of that at the commit: too late for who asks it now, and wrongly for who registers now.
  Status AwaitListener(std::span<const uint32_t> stripes);
  // True when this transaction holds the stripe.
  bool Holds(uint32_t stripe) const;
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
    size_t effects_bytes;
    size_t effects;
    uint64_t changes;
  };
  Savepoint MakeSavepoint() const;
  void RollbackTo(const Savepoint& savepoint);

  Lane lane() const { return lane_; }
  int64_t now_ms() const { return now_ms_; }  // fixed for the command

  // ---- rows
  Result<RowRef> Get(const RowKey& row, Access access = Access::kUse);
  // Seconds since the row was last used, as far as the key cache remembers.
  int64_t IdleSeconds(const RowKey& row);
  // Lets a row that the command has written count as last used so long ago.
  void SetIdle(const RowKey& row, int64_t seconds);
  // How often the row was used lately (RowCache::Frequency); nothing when uses are not counted.
  std::optional<uint8_t> Frequency(const RowKey& row);
  // Lets a row that the command has written count as used so often.
  void SetFrequency(const RowKey& row, uint8_t frequency);
  // A row that is too large to be stored is not written, and the command is refused (TakeRefusal). REQUIRES:
  // Holds(row.stripe())
  void Put(const RowKey& row, std::string_view value);
  void Delete(const RowKey& row);                       // REQUIRES: Holds(row.stripe())
  // Why what the command, or a part of it, has written or told cannot be stored: the client's error. OK when it can.
  // The writes of that part must be taken back.
  Status TakeRefusal();
  // Tells the rank index, if the collection has one, that a row came or went. REQUIRES: Holds(row.stripe())
  void RowAdded(const RowKey& row) { NoteRankChange(row, 1); }
  void RowRemoved(const RowKey& row) { NoteRankChange(row, -1); }
  // The same of a row that counts as often as it has items: it has so many more, or fewer.
  void RowCountChanged(const RowKey& row, int64_t change) { NoteRankChange(row, change); }
  // A rank index of the collection was made from what the command sees. It goes
  // when rows are rolled back that the command had written by then. REQUIRES: Holds(stripe)
  void NoteAidMade(CollectionId id, uint32_t stripe);
  // Forgets the rank indexes of a collection that is going away. REQUIRES: Holds(stripe)
  void DropRanks(CollectionId id, uint32_t stripe);
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
  void ReadFrom(const StoreSnapshot* snapshot) { snapshot_ = snapshot; }
  bool reads_snapshot() const { return snapshot_ != nullptr; }

  // Has the processor fetch into its cache what locking and reading the row will touch first; the row's hash, to be
  // given to PrefetchRow somewhat later. Both are hints, and need no lock.
  uint64_t Prefetch(const RowKey& row) const;
  void PrefetchRow(uint64_t hash);

  // ---- what is not a row
  // The commit fails when the disk does not take the note that the id is in use.
  CollectionId NewCollectionId();
  KeyspaceId keyspace(int db) const;
  // The database that has the keyspace; -1: none.
  int DatabaseOf(KeyspaceId keyspace) const;
  // Whether a database has this keyspace, own uncommitted FLUSHDBs included.
  bool HasKeyspace(KeyspaceId keyspace) const;
  // Keys in `keyspace`, those past their expiry included; exact, own uncommitted changes included.
  int64_t KeyCount(KeyspaceId keyspace) const;
  void AddToKeyCount(KeyspaceId keyspace, int64_t delta);
  // Gives the database a fresh, empty keyspace; an error when no number is left for one. REQUIRES: LockAll().
  Status ReplaceKeyspace(int db);
  void SwapKeyspaces(int db1, int db2);  // REQUIRES: LockAll()
  // Writes the databases' mapping down, so that the numbers given out to staged keyspaces are not given out again.
  // REQUIRES: LockAll().
  void RecordKeyspaces() { BeginKeyspaceChange(); }
  // Puts the staged keyspaces in the place of the databases' own (Store::BeginStaging). REQUIRES: LockAll().
  void AdoptStaged();

  Store& store() { return store_; }

  // For INFO's keyspace_hits and keyspace_misses; counted once the command has finished.
  void CountLookup(bool hit) { ++(hit ? command_hits_ : command_misses_); }
  // A key was deleted or replaced because its time had passed.
  void CountExpired() { ++command_expired_; }
  // A look-up met a key past its time. `missed` says that it is told of as one that a read did not find.
  void NoteStaleKey(std::string_view key_row, KeyspaceId keyspace, bool missed);
  // The command has deleted or replaced such a key: that is told even if it has no effects of its own to tell.
  void TellStaleKeys() { tells_stale_keys_ = true; }
  std::vector<StaleKey> TakeStaleKeys() { return std::exchange(stale_keys_, {}); }
  // A key got this expiry: the expiry worker must look at it in time.
  void NoteExpiry(int64_t expire_ms) { earliest_expiry_ms_ = std::min(earliest_expiry_ms_, expire_ms); }

  // ---- what others are told of the changes
  // What they want to hear (storage/interest.h), as it was when the command got its stripes.
  InterestMask interest() const { return is_silenced_ ? interest_ & ~kInterestInEffects : interest_; }
  // What the command has done, as the words of a command, for the log data of the batch. Several effects of one
  // command happen as one for those who read them. What is too large for the log refuses the command (TakeRefusal).
  // REQUIRES: interest() has kInterestInEffects.
  void AddEffect(int db, std::span<const std::string_view> argv);
  // For a part of the command: what it does has no effects to tell (redis.set_repl).
  void SilenceEffects(bool on) { is_silenced_ = on; }
  // The effects of the command are told each by itself.
  void SetEffectsApart() { effects_apart_ = true; }
  // A piece of the stream that this server follows, which the tick has carried out, for the log data of the batch.
  void AddStream(std::string_view bytes);
  // While muted, commands have no effects of their own to tell: the stream that they are of is told.
  void MuteEffects(bool muted) { muted_effects_ = muted; }
  // Keys past their time count as there: when they go is their primary's to say.
  void KeepExpired(bool keeps) { keeps_expired_ = keeps; }
  bool keeps_expired() const { return keeps_expired_; }
  // Whether a key or field that has this deadline is gone. Where they are kept, only a primary says so: a command may
  // be carried out long after it was given, and the next one may prolong what it is about.
  bool HasPassed(int64_t when_ms) const { return when_ms <= now_ms_ && !(keeps_expired_ && when_ms > 0); }
  // A row of Space::kMeta that nobody else writes, to be in the batch.
  void PutNote(std::string_view name, std::string value) { notes_[std::string(name)] = std::move(value); }
  // How often the command has changed something, for INFO's rdb_changes_since_last_save.
  void CountChanges(uint64_t changes) { command_changes_ += changes; }

  // To be told by the worker after the commit, in this order, if there is one.
  void Announce(Announcement announcement) { announcements_.push_back(std::move(announcement)); }
  // Whether the command has announced something; whether the tick has.
  bool announced() const { return announcements_.size() > announcements_before_; }
  bool has_announcements() const { return !announcements_.empty(); }
  std::vector<Announcement> TakeAnnouncements();

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
  size_t pending_bytes() const { return overlay_.bytes() + effects_.size(); }
  size_t pending_rows() const { return overlay_.entries().size(); }
  bool has_stripes() const { return !locked_.empty() || !taken_over_.empty(); }
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
  bool can_be_followed() const { return keyspaces_.empty(); }
  // `first`, which is being written, is this worker's tick before this one; null: it has been. REQUIRES: nothing is
  // pending when it is set.
  void Follow(const Transaction* first);
  bool follows() const { return first_ != nullptr; }
  // Whether something was taken over from the one it follows, so that it must fail if that one does.
  bool has_taken_over() const { return !taken_over_.empty(); }

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
  struct UseMark {
    RowKey row;
    int64_t used_s;
    std::optional<uint8_t> frequency;
  };
  struct RankChange {
    RowKey row;
    int64_t change;
  };
  // An index that cannot be made what it was at a mark of the overlay below this one.
  struct NewAid {
    uint32_t stripe = 0;
    size_t since = 0;
  };

  bool TryLockAll(std::span<const uint32_t> stripes);
  bool HasChanged(std::span<const uint32_t> stripes) const;
  bool TryTakeOver(uint32_t stripe);
  bool SharesWithFirst(uint32_t stripe);
  void ReleaseStripes();
  void ReadInterest();
  void OnLocked();
  Status Observe(uint32_t stripe);
  Result<RowRef> GetCommitted(const RowKey& row, Access access, uint64_t hash);
  void Admit(const RowKey& row, uint64_t hash, std::string_view value, Access access);
  static CollectionId CollectionOf(const RowKey& row);
  RankIndex* IndexOf(const RowKey& row);
  static void Apply(RankIndex& index, const RowKey& row, int64_t change);
  void NoteRankChange(const RowKey& row, int64_t change);
  void NoteNewAid(CollectionId id, uint32_t stripe, size_t since);
  void BeginKeyspaceChange();
  // Makes the rank indexes what they were at a mark of the overlay, with so many rank changes.
  void RollBackAids(size_t overlay, size_t rank_changes);
  Status AppendBatch(CommitMode mode);
  void SortEntries();
  void FinishEffects();
  void PutStaleKeys();
  void GroupEffects();
  Status BuildBatch();
  Status PutKeyspaces();
  void NotifyListener();
  void AdvanceStripes();
  void FetchAhead(size_t entry) const;
  void ApplyToCache();
  void ApplyCounts();
  void Reset();
  static void AddDelta(std::vector<KeyCountDelta>& deltas, KeyspaceId keyspace, int64_t delta);
  static int64_t DeltaOf(const std::vector<KeyCountDelta>& deltas, KeyspaceId keyspace);

  Store& store_;
  const uint32_t committer_;
  Overlay overlay_;
  const Transaction* first_ = nullptr;  // the one it follows
  const StoreSnapshot* snapshot_ = nullptr;
  std::unique_ptr<rocksdb::WriteBatch> batch_;
  std::vector<EntryOrder> order_;
  std::vector<CollectionId> dead_collections_;
  CollectionId ids_end_ = 0;             // above all ids that the tick has drawn; 0: none
  CollectionId empty_below_ = 0;         // not 0: a flush left no key anywhere, all collections below are dead
  std::vector<uint32_t> locked_;                 // stripes held
  std::vector<uint32_t> taken_over_;             // stripes held, taken over from first_ or its predecessors
  std::vector<KeyCountDelta> counts_;               // of the tick
  std::vector<KeyCountDelta> committed_counts_;     // this committer's own sums, as on disk
  std::vector<UseMark> use_marks_;
  std::vector<Announcement> announcements_;
  std::string effects_;                          // log entries of the tick
  uint64_t changes_ = 0;                         // of the tick
  std::map<std::string, std::string> notes_;     // meta rows of the tick
  bool muted_effects_ = false;
  bool keeps_expired_ = false;
  bool is_appended_ = false;                     // and not published
  uint64_t unsynced_sequence_ = 0;
  std::vector<KeyspaceId> keyspaces_;            // by database, when the tick changed the mapping; else empty

  // Of the command:
  Lane lane_ = Lane::kFast;
  bool reads_ = false;
  bool saw_uncommitted_ = false;
  bool met_lock_ = false;
  std::string missing_row_;
  int64_t now_ms_ = 0;
  uint64_t steps_left_ = 0;
  const bool* stop_ = nullptr;  // StopAt
  uint64_t keyspaces_epoch_ = 0;
  mutable bool asked_keyspaces_ = false;  // which the databases have, or about one of them
  uint64_t command_hits_ = 0;
  uint64_t command_misses_ = 0;
  uint64_t command_expired_ = 0;
  std::vector<StaleKey> stale_keys_;
  bool tells_stale_keys_ = false;
  std::vector<Observed> observed_;
  std::vector<KeyCountDelta> command_counts_;
  std::vector<RankChange> rank_changes_;
  std::map<CollectionId, NewAid> new_aids_;
  size_t use_marks_before_ = 0;
  size_t announcements_before_ = 0;
  InterestMask interest_ = 0;
  bool is_silenced_ = false;
  size_t effects_before_ = 0;  // bytes
  size_t command_effects_ = 0;
  bool effects_apart_ = false;
  uint64_t command_changes_ = 0;
  std::vector<KeyspaceId> keyspaces_before_;
  CollectionId empty_below_before_ = 0;
  bool changed_keyspaces_ = false;
  std::string_view refusal_;  // a literal; empty: none

  std::shared_ptr<const void> pending_;
  std::function<void()> adopt_;
  int64_t earliest_expiry_ms_ = INT64_MAX;  // of the tick
};

}  // namespace cairn
