// SPDX-License-Identifier: BSD-3-Clause
//
// StreamLog: this server's history (replication/history.h) and how it grows.
//
// The write-ahead log is the replication log. While logging is on, commits carry their replicated commands (on a
// primary) or the bytes of the primary's stream (on a replica). The thread "stream" reads new batches to learn the
// stream's length, and records anchors at which a replica can resume. The stream is not kept in memory: each sender
// reads the log.
//
// Logging is on from the arrival of the first replica until `repl-backlog-ttl` after the last one disconnected, and for
// as long as this server is a replica. It survives restarts and kill -9. When a primary starts, its stream forks at the
// log's end (replication/history.h), as in Redis: bytes that replicas have seen beyond it, before a power loss or from
// the directory that this one is a copy of, belong to another stream.
//
// Thread: any; guarded by mutex_. The work is done on "stream".
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "base/event.h"
#include "base/mutex.h"
#include "base/result.h"
#include "replication/history.h"
#include "replication/log_stream.h"
#include "storage/store_snapshot.h"
#include "storage/transaction.h"

namespace cairn {

class Store;
struct Settings;

class StreamLog {
 public:
  struct Events {
    std::function<bool()> has_replicas;
    std::function<void()> on_stream_changed;  // replicas of this server must resynchronize
  };

  StreamLog(Store& store, const Settings& settings, Events events);
  ~StreamLog();

  // Restores the history from the store. REQUIRES: the store is open.
  Status Start();
  void Stop();

  History history() const;
  bool logs() const { return logs_.load(std::memory_order_acquire); }
  // The length of the stream: on a primary as far as it was read, on a replica as far as it was applied.
  uint64_t offset() const;
  // The length of the stream including everything committed, except, without kLong, commits that are behind one that
  // must be synced and is not. With kLong (WAIT) it syncs that one, and tries for 2 s to read a log that seems to have
  // a gap; other threads use this object meanwhile.
  Result<uint64_t> ReadOffset(LogReader::Patience patience = LogReader::Patience::kNone);
  // The same; if the log cannot be read, the length read so far. It is not the length at the last read: a comparison
  // with a replica's offset would then say too early that the replica has everything.
  uint64_t OffsetNow();
  // The first byte that a replica can still ask for, counted from 1.
  uint64_t FirstByte() const;

  // The first sequence of the log that a returning replica may need; kNothingNeeded while logging is off.
  uint64_t FirstNeeded() const;
  // Gives up log that only disconnected replicas could ask for: `first` is the first sequence still being sent.
  void ShortenTo(uint64_t first);

  // Ensures that logging is on and the log is complete from here on. On an error nothing has changed.
  Status BeginLogging();
  // Ends the logging, if there are no replicas. If the store cannot save that, logging stays on.
  void EndLogging();
  // Adds a command that changes no data (PING, REPLCONF GETACK).
  Status LogCommand(std::span<const std::string_view> argv);
  // Syncs everything that is committed to the disk. Does nothing if it is synced already.
  Status Sync();
  // Whether Sync would have nothing to do.
  bool is_synced() const;
  // The offset up to which the stream is synced to the disk.
  uint64_t synced_offset() const;
  // Requests a REPLCONF GETACK soon; concurrent requests share one.
  void WantAcks();
  // The number of GETACKs added to the stream.
  uint64_t acks_asked() const { return acks_asked_; }
  // Waits until acks_asked() differs from `asked`, at most `most_us`.
  void AwaitAckRequest(uint64_t asked, int64_t most_us);

  // ---- a change of role
  // Stops this server's own stream. Afterwards applied() is where the primary must resume. `wants_acks`: the stream
  // ends with a request for acknowledgements. On an error nothing has changed.
  Status TurnReplica(bool wants_acks);
  // The stream forks here, and this server extends it from now on. No-op for a primary. On an error nothing has
  // changed.
  Status TurnPrimary();
  // Whether this server has a history with which it can ask a primary to resume.
  bool can_continue() const { return can_continue_.load(); }

  // ---- on a replica
  Applied applied() const;
  // Adds to the applier's transaction what it has applied since the last commit.
  void AddApplied(Transaction& txn, const Applied& applied, std::string_view stream) const;
  void NoteApplied(const Applied& applied);
  // Takes a new id, so that all replicas need a full transfer.
  Status Fork();
  // Changes the id of the primary's stream, whose bytes so far stay the same.
  Status Rename(const std::string& id);
  // Excludes other changes while it exists; made with all stripes locked. Adds to the transaction that the data is now
  // that of stream `id` at `applied`; Done says that it was committed.
  class Adoption {
   public:
    // The analysis does not see a lock that is a field.
    Adoption(StreamLog& log, const std::string& id, const Applied& applied,
             Transaction& txn) ABSL_NO_THREAD_SAFETY_ANALYSIS;
    void Done() ABSL_NO_THREAD_SAFETY_ANALYSIS;

   private:
    StreamLog& log_;
    const MutexLock lock_;
    History history_;
    Applied applied_;
  };

  // ---- for a replica that begins or resumes
  // Where to read the stream for a replica that has stream `id` up to the byte before `next`; none if the log does not
  // have the rest. An empty id: the replica has nothing.
  Result<std::optional<Anchor>> FindStart(std::string_view id, uint64_t next);
  // A snapshot for a replica that begins here, with the stream's offset and the selected database at its moment, and
  // the position in the log after it.
  Result<std::unique_ptr<StoreSnapshot>> TakeSnapshot(Anchor& start);
  // Records that the log cannot be read from `unread` on. No replica is sent the log from there or before any more; a
  // replica that needs it gets a full transfer.
  void PassHole(const Anchor& unread);

 private:
  void Run();
  // Waits for a commit at the sequence `next` or later, and then kGatherUs for more of them.
  void AwaitCommits(uint64_t next);
  // Wakes the thread.
  void Kick();
  Status Save() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Saves the history with the role of a primary. On an error the history is `before` again.
  Status SaveAsPrimary(const History& before) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AskForAcks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Status ReadSome(bool& has_more) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Status ReadOn(bool& progressed, LogReader::Patience patience = LogReader::Patience::kNone)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Status ReadToEnd(LogReader::Patience patience = LogReader::Patience::kNone) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Status ReadUp() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The end of the own stream is what this server has applied.
  void NoteOwnEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropAnchor() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Restart(const Anchor& anchor) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Commits have no log data any more, and the thread does not read the log. The caller changes the history.
  void StopLogging() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LeaveGap() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // How far the thread has read the log.
  Anchor position() const;
  // `before` is position() from before the snapshot, `was_replica` the role then; an error if the role has changed.
  Result<Anchor> AnchorOf(const StoreSnapshot& snapshot, const Anchor& before, bool was_replica);
  Result<Anchor> AnchorOfNow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Status TakeUp() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Gives the history a new id; the caller saves it. REQUIRES: no thread writes.
  Status ForkHere(uint64_t offset) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetApplied(const Applied& applied);
  Status LogLocked(std::span<const std::string_view> argv) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Result<std::unique_ptr<Transaction>> LockOutWriters();

  Store& store_;
  const Settings& settings_;
  const Events events_;
  mutable Mutex mutex_;
  History history_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<LogStream> stream_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Transaction> txn_ ABSL_GUARDED_BY(mutex_);
  std::string scratch_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool wants_acks_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> kicked_{false};
  std::atomic<uint64_t> acks_asked_{0};
  Event called_;  // notified when kicked_ is set or acks_asked_ grows
  std::atomic<bool> logs_{false};
  std::atomic<bool> is_replica_{false};
  std::atomic<uint64_t> applied_offset_{0};
  std::atomic<int> applied_db_{0};
  std::atomic<uint64_t> read_offset_{0};
  std::atomic<uint64_t> synced_offset_{0};
  std::atomic<uint64_t> synced_sequence_{0};  // the store's, with or without a stream
  std::atomic<bool> can_continue_{false};
  std::thread thread_;
};

}  // namespace cairn
