// SPDX-License-Identifier: BSD-3-Clause
//
// Replication: the role of this server, and its parts: the log of the stream (replication/stream_log.h), the link to a
// primary (replication/primary_link.h), the replicas (replication/replicas.h), and the clients blocked in WAIT.
//
// Thread: any. Role changes are serialized (role_mutex_).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "command/session.h"
#include "replication/primary_link.h"
#include "replication/replicas.h"
#include "replication/stream_log.h"

namespace cairn {

class ClientPause;
class ClientRegistry;
class Conditions;
class Config;
class WritableReplicaExpires;
class Store;

class Replication {
 public:
  struct Parts {
    Conditions& conditions;
    ClientRegistry& clients;
    ClientPause& pause;
    WritableReplicaExpires& writable_replica_expires;
    PrimaryLink::Parts primary_link;
  };

  explicit Replication(const Parts& parts);

  // Restores the history and the configured role. REQUIRES: the store is open.
  Status Start();
  // Stops the links first. Stop then stops the log, when no thread writes any more.
  void StopLinks();
  void Stop();

  StreamLog& log() { return log_; }
  PrimaryLink& primary_link() { return primary_link_; }
  Replicas& replicas() { return replicas_; }

  // None: this server is a primary.
  std::optional<PrimaryAddress> primary() const;
  // Refuses a role change within a transaction: the change waits for all users of keys, so it would wait for itself.
  static Status CheckMayChange(Transaction& txn);
  // Refuses a role change during FAILOVER.
  Status CheckNoFailover() const;
  Status SetPrimary(const PrimaryAddress& primary);
  Status Promote();

  // FAILOVER: holds writes back until a replica has everything; then the replica becomes the primary and this server
  // its replica.
  struct FailoverWish {
    std::optional<PrimaryAddress> target;  // none: the first replica that has everything
    bool force = false;                    // hand over at the timeout even if the target lacks something
    int64_t timeout_ms = 0;                // 0: none
  };
  Status BeginFailover(const FailoverWish& wish);
  Status AbortFailover();
  std::string_view failover_state() const;
  // Starts the stream under a new id, so that no replica can resume.
  Status Fork();

  // Breaks the link to the primary, which is then made again; false if there is none, or if the primary has another
  // address, "host:port" (empty: any).
  bool BreakLink(std::string_view address);
  // The link to the primary went up or down.
  void OnPrimaryLink(bool up);
  // Makes the replicas of this server resynchronize.
  void OnStreamChanged() { replicas_.DisconnectAll(); }
  // Called when settings change that conditions depend on.
  void UpdateConditions();
  // Called ten times a second, with MonotonicMs().
  void Tick(int64_t now_ms);
  void Forget(ClientSession& session);
  // REPLCONF ACK.
  void NoteAck(ClientSession& session, uint64_t acked, uint64_t synced);

  // ---- WAIT and WAITAOF
  struct Wanted {
    int replicas = 0;
    bool synced = false;  // on their disks
  };
  // The number of replicas that have everything committed before the client began to wait; none if the client must go
  // on waiting; it is woken when that may change.
  Result<std::optional<int>> CountWaited(Session& session, const Wanted& wanted, bool gives_up);

 private:
  // Makes this server a replica and stops writes; replicas are still sent the rest of the stream.
  Status StepDown(const PrimaryAddress& primary, bool wants_acks) ABSL_EXCLUSIVE_LOCKS_REQUIRED(role_mutex_);
  void ForgetPrimary();
  void KeepAddress(std::vector<std::string> words);
  // After StepDown: starts the link, and makes replicas resynchronize.
  void BeginFollowing(const PrimaryAddress& primary, bool failover);
  Status BecomePrimary();
  void WakeWaiting();
  // Deletes log files that no replica needs.
  void DropLogs(int64_t now_ms);
  enum class Failover : unsigned char { kNone, kAwaitsSync, kAwaitsLast, kHandsOver };
  void TickFailover(int64_t now_ms);
  Status TickAwaitsSync(bool is_late) ABSL_EXCLUSIVE_LOCKS_REQUIRED(failover_mutex_);
  Status TickAwaitsLast(bool is_late) ABSL_EXCLUSIVE_LOCKS_REQUIRED(failover_mutex_);
  Status TickHandsOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(failover_mutex_);
  void EndFailover(std::string_view why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(failover_mutex_);
  // Ends the failover, and this server stays the primary.
  Status GiveFailoverUp(std::string_view why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(failover_mutex_);
  std::shared_ptr<Replica> FindSuccessor(bool must_have_all) ABSL_EXCLUSIVE_LOCKS_REQUIRED(failover_mutex_);

  Store& store_;
  Config& config_;
  Conditions& conditions_;
  ClientRegistry& clients_;
  ClientPause& pause_;
  WritableReplicaExpires& writable_replica_expires_;
  StreamLog log_;
  PrimaryLink primary_link_;
  Replicas replicas_;
  Mutex failover_mutex_;                                   // one step of a failover at a time
  Mutex role_mutex_ ABSL_ACQUIRED_AFTER(failover_mutex_);  // one change of the role at a time
  Mutex conditions_mutex_;                                 // one look at what they depend on at a time
  mutable Mutex mutex_ ABSL_ACQUIRED_AFTER(role_mutex_, conditions_mutex_);
  std::optional<PrimaryAddress> primary_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, uint64_t> waiting_ ABSL_GUARDED_BY(mutex_);  // session id -> offset it waits for
  FailoverWish failover_ ABSL_GUARDED_BY(failover_mutex_);
  int64_t failover_deadline_ms_ ABSL_GUARDED_BY(failover_mutex_) = 0;
  std::shared_ptr<Replica> successor_
      ABSL_GUARDED_BY(failover_mutex_);  // the replica that must receive the rest of the stream
  std::atomic<Failover> failover_state_{Failover::kNone};
  std::atomic<bool> any_waiting_{false};
  std::atomic<bool> link_is_up_{false};
  int64_t pinged_ms_ = 0;
  int64_t checked_ms_ = 0;
  int64_t logs_dropped_ms_ = 0;
  std::atomic<int64_t> alone_since_ms_{0};  // since when this primary has been without replicas
};

}  // namespace cairn
