// SPDX-License-Identifier: BSD-3-Clause
//
// FastWorker and SlowWorker: run requests, on an I/O thread and on a slow lane thread. Both dispatch on their own
// transaction and count statistics; they differ in when they commit.
//
// Thread: the one it was made for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "command/dispatch.h"
#include "net/service.h"
#include "storage/transaction.h"

namespace cairn {

class Notifier;
class ClientPause;
class ClientSession;
class Committer;
class CrossProtocolAlarm;
class HotKeys;
struct CommandLogs;
class LatencyMonitor;
class Monitors;
class PubSub;
class Replicas;
class Scripting;
class SlotStats;
class Stats;
class Store;
class WorkerStats;

class BaseWorker : public Worker {
 public:
  struct Parts {
    Store& store;
    Dispatcher& dispatcher;
    const CommandTable& table;
    Scripting& scripting;
    const Notifier& notifier;
    PubSub& pubsub;
    Monitors& monitors;
    Replicas& replicas;
    ClientPause& pause;
    Stats& stats;
    CommandLogs& logs;
    LatencyMonitor& latency;
    HotKeys& hot_keys;
    SlotStats& slots;
    CrossProtocolAlarm& cross_protocol;
  };

  RunResult Run(Client& client, std::span<const std::string_view> argv, std::string& out) override;
  RunResult Resume(Client& client, std::string& out) override;
  MissingRow TakeMissing() override { return {}; }
  void Fetch(std::string_view missing) override;
  void ReadAhead(const Client& client, std::span<const std::string_view> argv, size_t least_keys) override;
  bool met_lock() const override { return txn_->command().met_lock(); }
  bool MayChange(const Client& client, std::span<const std::string_view> argv) override;
  bool is_write() const override { return is_write_; }
  bool wrote() const override { return wrote_; }
  bool wakes_others() const override { return wakes_; }
  bool has_tick() const override;
  bool is_worth_commit() const override { return false; }
  bool is_full() const override;
  void OnCommitted() override {}
  std::string commit_error() const override;
  void NoteRead(Client& client, uint64_t bytes) override;
  void NoteWritten(Client& client, uint64_t bytes) override;

 protected:
  BaseWorker(const Parts& parts, Lane lane);
  // Runs a request to its verdict; for `rerun` see Dispatcher::Execute.
  RunResult RunRequest(ClientSession& session, std::span<const std::string_view> argv, std::string& out, bool rerun);
  // Called after each completed request; a slow worker commits here and may replace the reply.
  virtual void AfterRequest(Outcome& outcome, std::span<const std::string_view> argv, std::string& out,
                            size_t start) = 0;
  // Notes and logs why a commit failed. Thread: that of the commit, before its end is reported.
  void NoteFailure(const Status& status);
  // Commits the open tick on this thread.
  Status CommitNow(CommitMode mode);
  void EndRequest(ClientSession& session, const Command* command, bool was_monitor, std::string& out, size_t start);
  static void EndCaching(ClientSession& session, const Command* command);
  // Delivers the notifications. REQUIRES: `txn` is committed.
  void Deliver(Transaction& txn);

  const Parts parts_;
  const Lane lane_;
  WorkerStats& stats_;
  Random random_;
  std::unique_ptr<Transaction> txn_;
  bool wrote_ = false;
  bool wakes_ = false;
  bool is_write_ = false;  // the last request ran a command that may change data

 private:
  int64_t HeldBackUntil(const ClientSession& session, std::span<const std::string_view> argv);
  bool MustAwaitBus(const ClientSession& session, std::span<const std::string_view> argv) const;
  bool MayChangeData(const Command& command, std::span<const std::string_view> argv);
  bool RequestMayChangeData(const ClientSession& session, const Command& command,
                            std::span<const std::string_view> argv);
  RunResult CutOffReplica(ClientSession& session, const Outcome& outcome, std::string& out, size_t start);
  void Feed(const ClientSession& session, const Outcome& outcome, std::span<const std::string_view> argv);
  void Settle(ClientSession& session, bool was_monitor, std::string& out, size_t start);
  void Count(ClientSession& session, const Outcome& outcome, std::span<const std::string_view> argv, int64_t usec,
             std::string_view reply);
  // Counts a command for CLUSTER SLOT-STATS, if it has keys.
  template <typename Words>
  void NoteSlot(const Command& command, const Words& argv, int64_t usec, size_t reply_bytes);
  // Counts a command for HOTKEYS, if it has keys.
  template <typename Words>
  void NoteHotKeys(const Command& command, const Words& argv, int64_t usec, size_t reply_bytes);
  template <typename Words>
  void LogCommand(ClientSession& session, const Command& command, const Words& argv, int64_t usec, size_t reply_bytes);

  std::string failure_;  // of the last commit that failed
  std::vector<uint32_t> positions_;
  std::vector<uint32_t> stripes_;
};

// Commits small ticks on its own thread. It hands large ones to the committer, and meanwhile runs the next tick on a
// second transaction.
class FastWorker : public BaseWorker {
 public:
  FastWorker(const Parts& parts, Committer& committer);
  MissingRow TakeMissing() override;
  bool is_full() const override;
  bool is_worth_commit() const override;
  CommitResult Commit(std::function<void(bool ok)> done) override;
  void OnCommitted() override;

 protected:
  void AfterRequest(Outcome&, std::span<const std::string_view>, std::string&, size_t) override {}

 private:
  void HandOver(std::function<void(bool ok)> done);

  Committer& committer_;
  std::unique_ptr<Transaction> other_;  // the committer's, or empty
  bool is_handed_over_ = false;         // other_ is in the committer
  bool is_written_ = false;             // the outcome of other_; set by the committer before `done`
  bool is_lost_ = false;                // the predecessor of this tick failed
};

class SlowWorker : public BaseWorker {
 public:
  explicit SlowWorker(const Parts& parts) : BaseWorker(parts, Lane::kSlow) {}
  CommitResult Commit(std::function<void(bool ok)>) override { return CommitResult::kDone; }

 protected:
  void AfterRequest(Outcome& outcome, std::span<const std::string_view> argv, std::string& out, size_t start) override;
};

}  // namespace cairn
