// SPDX-License-Identifier: BSD-3-Clause
//
// Replication: the role of this server, and the parts that play it: the log of the stream
// (replication/stream_log.h), the link to a primary (replication/primary_link.h), the replicas that are fed
// (replication/replicas.h), and the clients that WAIT for them.
//
// Thread: any. Changes of the role come one after the other (role_mutex_).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

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
    PrimaryLink::Parts follower;
  };

  explicit Replication(const Parts& parts);

  // Takes up the history and the role of the configuration. REQUIRES: the store is open.
  Status Start();
  // The link and the feeds end first, the log when nothing is written any more.
  void StopLinks();
  void Stop();

  StreamLog& log() { return log_; }
  PrimaryLink& primary_link() { return primary_link_; }
  Replicas& replicas() { return replicas_; }

  // None: this server is a primary.
  std::optional<PrimaryAddress> primary() const;
  // Who changes the role waits for all who use keys: a transaction that does so itself is refused.
  static Status CheckMayChange(Transaction& txn);
  Status SetPrimary(const PrimaryAddress& primary);
  Status Promote();

  // FAILOVER: writes are held back until a replica has everything, and then it becomes the primary, and this server
  // its replica.
  struct FailoverWish {
    std::optional<PrimaryAddress> target;  // none: whichever comes first
    bool force = false;                    // also when the time is over and it lacks something
    int64_t timeout_ms = 0;                // 0: none
  };
  Status BeginFailover(const FailoverWish& wish);
  Status AbortFailover();
  std::string_view failover_state() const;
  // A new id for the stream, which nobody else knows.
  Status Fork();

  // The primary's link is up, or is not.
  void OnPrimaryLink(bool up);
  // Those who follow this server must ask anew.
  void OnStreamChanged() { replicas_.DisconnectAll(); }
  // Settings that conditions depend on have changed.
  void UpdateConditions();
  // Called ten times a second.
  void Tick(int64_t now_ms);
  void Forget(ClientSession& session);
  // REPLCONF ACK.
  void NoteAck(ClientSession& session, uint64_t acked, uint64_t synced);

  // ---- WAIT and WAITAOF
  struct Wanted {
    int replicas = 0;
    bool synced = false;  // on their disks
  };
  // How many replicas have everything that was committed before the client began to wait; none when it has to
  // go on waiting, of which it is woken.
  Result<std::optional<int>> CountWaited(Session& session, const Wanted& wanted, bool gives_up);

 private:
  // The role is a replica's from here on, and nobody writes; those who follow are still sent what there is.
  // REQUIRES: role_mutex_.
  Status StepDown(const PrimaryAddress& primary, bool wants_acks);
  void ForgetPrimary();
  // After StepDown: the link, and those who follow ask anew.
  void BeginFollowing(const PrimaryAddress& primary, bool failover);
  Status BecomePrimary();
  void WakeWaiting();
  // What nobody needs of the log any more goes.
  void DropLogs(int64_t now_ms);
  enum class Failover : unsigned char { kNone, kAwaitsSync, kAwaitsLast, kHandsOver };
  void TickFailover(int64_t now_ms);
  // With failover_mutex_ held:
  Status TickAwaitsSync(bool is_late);
  Status TickAwaitsLast(bool is_late);
  Status TickHandsOver();
  void EndFailover(std::string_view why);
  // The same, and this server is the primary as before.
  Status GiveFailoverUp(std::string_view why);
  std::shared_ptr<Replica> FindSuccessor(bool must_have_all);

  Store& store_;
  Config& config_;
  Conditions& conditions_;
  ClientRegistry& clients_;
  ClientPause& pause_;
  WritableReplicaExpires& writable_replica_expires_;
  StreamLog log_;
  PrimaryLink primary_link_;
  Replicas replicas_;
  std::mutex failover_mutex_;    // one step of a failover at a time; before role_mutex_
  std::mutex role_mutex_;        // one change of the role at a time
  std::mutex conditions_mutex_;  // one look at what they depend on at a time; before mutex_
  mutable std::mutex mutex_;     // primary_, waiting_
  std::optional<PrimaryAddress> primary_;
  std::map<uint64_t, uint64_t> waiting_;  // by session: for which offset
  FailoverWish failover_;                 // guarded by failover_mutex_, like the next two
  int64_t failover_deadline_ms_ = 0;
  std::shared_ptr<Replica> successor_;  // that has to have the last of the stream
  std::atomic<Failover> failover_state_{Failover::kNone};
  std::atomic<bool> any_waiting_{false};
  std::atomic<bool> link_is_up_{false};
  int64_t pinged_ms_ = 0;
  int64_t checked_ms_ = 0;
  int64_t logs_dropped_ms_ = 0;
  std::atomic<int64_t> alone_since_ms_{0};  // since when it has been a primary, if no replica has left since
};

}  // namespace cairn
