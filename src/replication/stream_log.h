// SPDX-License-Identifier: BSD-3-Clause
//
// StreamLog: this server's history (replication/history.h) and how it grows.
//
// The write-ahead log is the replication log. While it is on, commits carry what commands did (of a
// primary), or the bytes of the primary's stream (of a replica). One thread, "stream", reads what
// comes, so that it is known how long the stream is, and drops anchors at which a replica that was
// away can be picked up. Nothing of the stream is kept in memory: whoever sends it reads the log.
//
// The log is on from the first replica's coming until `repl-backlog-ttl` after the last one left, and for as long as
// this server is a replica itself. It survives restarts and kill -9. When a primary starts, its stream forks at the
// log's end (replication/history.h), as in Redis: what replicas have seen beyond that, before a power loss or from the
// directory that this one is a copy of, was another stream.
//
// Thread: any; guarded by mutex_. The work is done on "stream".
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "base/event.h"
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
    std::function<void()> on_stream_changed;  // those who follow this server must ask anew
  };

  StreamLog(Store& store, const Settings& settings, Events events);
  ~StreamLog();

  // Takes up the history where the store has it. REQUIRES: the store is open.
  Status Start();
  void Stop();

  History history() const;
  bool logs() const { return logs_.load(std::memory_order_acquire); }
  // The length of the stream: as far as it has been read, of a replica as far as it was carried out.
  uint64_t offset() const;
  // The length of the stream with everything that is committed.
  Result<uint64_t> ReadOffset();
  // The same, or where that cannot be read, as far as it was. Of now, not of when the stream was last read: who
  // compares it with a replica's would be told too early that the replica has everything.
  uint64_t OffsetNow();
  // How far the thread has read the log.
  Anchor position() const;
  // The first byte that can still be asked for, counted from 1.
  uint64_t FirstByte() const;

  // The sequence from which on the log tells what a replica that was away can be sent; kNothingNeeded while it is off.
  uint64_t FirstNeeded() const;
  // Gives up what only replicas that are away could ask for: `first` is the first sequence that others are sent still.
  void ShortenTo(uint64_t first);

  // Sees to it that the log is on and complete from here on.
  Status BeginLogging();
  void EndLogging();
  // Adds a command that has no effect on data (PING, REPLCONF GETACK).
  Status LogCommand(std::span<const std::string_view> argv);
  // Makes everything that is committed survive a power loss. Does nothing when it does already.
  Status Sync();
  // Whether Sync would have nothing to do.
  bool is_synced() const;
  // How much of the stream is on the disk.
  uint64_t synced_offset() const;
  // Asks for a REPLCONF GETACK soon; many asking at once get one.
  void WantAcks();
  // The number of GETACKs added to the stream.
  uint64_t acks_asked() const { return acks_asked_; }
  // Waits until acks_asked() is not `asked` any more, at most `most_us`.
  void AwaitAckRequest(uint64_t asked, int64_t most_us);

  // ---- a change of role
  // No more effects of this server's own. Afterwards applied() is where the primary is to go on. `wants_acks`: the last
  // that replicas hear asks them how far they are. On an error nothing has changed.
  Status TurnReplica(bool wants_acks);
  // The stream forks here and is this server's own from now on. No-op for a primary.
  Status TurnPrimary();
  // Whether there is a history with which a primary can be asked to go on.
  bool can_continue() const { return can_continue_.load(); }

  // ---- of a replica
  Applied applied() const;
  // Adds to the transaction of the follower what it has carried out since the last commit.
  void AddApplied(Transaction& txn, const Applied& applied, std::string_view stream) const;
  void NoteApplied(const Applied& applied);
  // A new id, which nobody else knows: all who follow start anew.
  Status Fork();
  // The primary's stream has another id from here on, and was the same before.
  Status Rename(const std::string& id);
  // While this lives nothing else changes; made with all stripes locked. Adds to the transaction that the
  // data is now that of stream `id` at `applied`; Done says that it was committed.
  class Adoption {
   public:
    Adoption(StreamLog& log, const std::string& id, const Applied& applied, Transaction& txn);
    void Done();

   private:
    StreamLog& log_;
    const std::unique_lock<std::mutex> lock_;
    History history_;
    Applied applied_;
  };

  // The offset and the database selected at the moment of the snapshot, and where the log goes on. `before` is
  // position() of before the snapshot was taken.
  Result<Anchor> AnchorOf(const StoreSnapshot& snapshot, const Anchor& before);
  // The log cannot be read from `unread` on, and nobody is sent it from there or from before any more: a replica that
  // would need it is sent everything instead.
  void PassHole(const Anchor& unread);

 private:
  void Run();
  // Waits for a commit at the sequence `next` or later, and then kGatherUs for more of them.
  void AwaitCommits(uint64_t next);
  // Ends the thread's wait.
  void Kick();
  // With mutex_ held:
  Status Save();
  void AskForAcks();
  Status ReadSome(bool& has_more);
  Status ReadOn(bool& progressed, LogReader::Patience patience = LogReader::Patience::kNone);
  Status ReadToEnd(LogReader::Patience patience = LogReader::Patience::kNone);
  Status ReadUp();
  void DropAnchor();
  void Restart(const Anchor& anchor);
  void LeaveGap();
  Result<Anchor> AnchorOfNow();
  Status TakeUp();
  // The history's name is another one from here on; the caller saves that. REQUIRES: nobody writes.
  Status ForkHere(uint64_t offset);
  void SetApplied(const Applied& applied);
  Status LogLocked(std::span<const std::string_view> argv);
  Result<std::unique_ptr<Transaction>> LockOutWriters();

  Store& store_;
  const Settings& settings_;
  const Events events_;
  mutable std::mutex mutex_;
  History history_;  // guarded by mutex_, like what follows
  std::unique_ptr<LogStream> stream_;
  std::unique_ptr<Transaction> txn_;
  std::string scratch_;
  bool stopping_ = false;
  bool wants_acks_ = false;
  std::atomic<bool> kicked_{false};
  std::atomic<uint64_t> acks_asked_{0};
  Event called_;  // kicked_ was set, or acks_asked_ has grown
  std::atomic<bool> logs_{false};
  std::atomic<bool> is_replica_{false};
  std::atomic<uint64_t> applied_offset_{0};
  std::atomic<int> applied_db_{0};
  std::atomic<uint64_t> read_offset_{0};
  std::atomic<uint64_t> synced_offset_{0};
  std::atomic<uint64_t> synced_sequence_{0};  // of the store, whether or not there is a stream
  std::atomic<bool> can_continue_{false};
  std::thread thread_;
};

}  // namespace cairn
