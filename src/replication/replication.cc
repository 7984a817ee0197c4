// SPDX-License-Identifier: BSD-3-Clause
#include "replication/replication.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "client/client_pause.h"
#include "client/client_registry.h"
#include "client/client_session.h"
#include "client/writable_replica_expires.h"
#include "command/conditions.h"
#include "config/config.h"
#include "storage/disk_reserve.h"
#include "storage/old_logs.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr std::string_view kFailingOver = "ERR REPLICAOF not allowed while failing over.";
constexpr int64_t kFailoverPauseMs = 24 * 3600 * 1000;  // at most; the pause ends with the failover

}  // namespace

Replication::Replication(const Parts& parts)
    : store_(parts.primary_link.store), config_(parts.primary_link.config), conditions_(parts.conditions),
      clients_(parts.clients), pause_(parts.pause), writable_replica_expires_(parts.writable_replica_expires),
      log_(store_, config_.settings(),
           {.has_replicas = [this] { return replicas_.count() > 0 || replicas_.log_uses().any(); },
            .on_stream_changed = [this] { OnStreamChanged(); }}),
      primary_link_(
          parts.primary_link, log_,
          {.on_link = [this](bool up) { OnPrimaryLink(up); }, .on_stream_changed = [this] { OnStreamChanged(); }}),
      replicas_(store_, config_, clients_, log_) {}

// ---- start and stop

Status Replication::Start() {
  TRY(log_.Start());
  replicas_.Start();
  primary_link_.Start();
  alone_since_ms_ = pinged_ms_ = MonotonicMs();
  std::vector<std::string> words = config_.Words("replicaof");
  if (config_.settings().cluster_enabled) words.clear();  // the role is in nodes.conf
  if (words.empty()) {
    TRY(log_.TurnPrimary());
    primary_link_.DropReceived();
    return Ok();
  }
  const auto port = words.size() == 2 ? ParseInt64(words[1]) : std::nullopt;
  if (!port || *port < 0 || *port > 65535) return Status::Io("replicaof: needs a host and a port");
  return SetPrimary({words[0], static_cast<int>(*port)});
}

void Replication::StopLinks() {
  primary_link_.Stop();
  replicas_.Stop();
}

void Replication::Stop() { log_.Stop(); }

// ---- the role

std::optional<PrimaryAddress> Replication::primary() const {
  const MutexLock lock(mutex_);
  return primary_;
}

bool Replication::BreakLink(std::string_view address) {
  const std::optional<PrimaryAddress> wanted = primary();
  if (!wanted) return false;
  const bool is_at = address.empty() || address == wanted->host + ":" + std::to_string(wanted->port);
  return is_at && primary_link_.Break();
}

Status Replication::CheckMayChange(Transaction& txn) {
  if (txn.stripes().empty()) return Ok();
  return Status::Reply("ERR a transaction that uses keys can't change the server's role");
}

Status Replication::CheckNoFailover() const {
  return failover_state_ == Failover::kNone ? Ok() : Status::Reply(kFailingOver);
}

Status Replication::SetPrimary(const PrimaryAddress& primary) {
  const MutexLock failing_over(failover_mutex_);
  TRY(CheckNoFailover());
  const MutexLock role(role_mutex_);
  TRY(StepDown(primary, false));
  BeginFollowing(primary, false);
  return Ok();
}

// For CONFIG REWRITE; a node of a cluster has its role in nodes.conf.
void Replication::KeepAddress(std::vector<std::string> words) {
  if (!config_.settings().cluster_enabled) config_.Keep("replicaof", std::move(words));
}

Status Replication::StepDown(const PrimaryAddress& primary, bool wants_acks) {
  const bool was_primary = !this->primary();
  {
    const MutexLock lock(mutex_);
    primary_ = primary;
  }
  KeepAddress({primary.host, std::to_string(primary.port)});
  link_is_up_ = false;
  UpdateConditions();
  primary_link_.Disconnect();
  if (!was_primary) return Ok();
  if (Status status = log_.TurnReplica(wants_acks); !status.ok()) {
    ForgetPrimary();
    return status;
  }
  // Clients that are blocked now are unblocked. Clients that block later see that the server keeps expired keys.
  for (const auto& session : clients_.All()) {
    if (session->blocking.is_blocked) session->Unblock(UnblockRequest::kDemoted);
  }
  return Ok();
}

void Replication::ForgetPrimary() {
  {
    const MutexLock lock(mutex_);
    primary_.reset();
  }
  KeepAddress({});
  UpdateConditions();
}

void Replication::BeginFollowing(const PrimaryAddress& primary, bool failover) {
  replicas_.DisconnectAll();
  primary_link_.Connect(primary, failover);
  Log(LogSeverity::kNotice, "REPLICAOF {}:{} enabled", primary.host, primary.port);
}

Status Replication::Promote() {
  const MutexLock failing_over(failover_mutex_);
  TRY(CheckNoFailover());
  return BecomePrimary();
}

Status Replication::BecomePrimary() {
  const MutexLock role(role_mutex_);
  const auto primary = this->primary();
  if (!primary) return Ok();
  primary_link_.Disconnect();
  primary_link_.DropReceived();
  // Replicas learn the stream's new id when they reconnect, which they may do once this server is a primary. Until then
  // they must not receive bytes that they would take for the old stream.
  replicas_.DisconnectAll();
  if (Status status = log_.TurnPrimary(); !status.ok()) {
    primary_link_.Connect(*primary, false);
    return status;
  }
  replicas_.DisconnectAll();  // those that have attached meanwhile under the old id
  primary_link_.ForgetDownTime();
  alone_since_ms_ = MonotonicMs();
  ForgetPrimary();
  Log(LogSeverity::kNotice, "MASTER MODE enabled");
  return Ok();
}

// ---- FAILOVER

std::string_view Replication::failover_state() const {
  switch (failover_state_) {
    case Failover::kNone: return "no-failover";
    case Failover::kAwaitsSync:
    case Failover::kAwaitsLast: return "waiting-for-sync";
    case Failover::kHandsOver: return "failover-in-progress";
  }
  return "no-failover";
}

Status Replication::BeginFailover(const FailoverWish& wish) {
  const MutexLock failing_over(failover_mutex_);
  if (failover_state_ != Failover::kNone) return Status::Reply("ERR FAILOVER already in progress.");
  if (primary()) return Status::Reply("ERR FAILOVER is not valid when server is a replica.");
  if (replicas_.count() == 0) return Status::Reply("ERR FAILOVER requires connected replicas.");
  if (wish.force && (!wish.target || wish.timeout_ms == 0)) {
    return Status::Reply("ERR FAILOVER with force option requires both a timeout and target HOST and IP.");
  }
  if (wish.target) {
    const auto all = replicas_.All();
    const auto found = std::find_if(all.begin(), all.end(), [&wish](const auto& replica) {
      return replica->ip == wish.target->host && replica->port == wish.target->port;
    });
    if (found == all.end()) return Status::Reply("ERR FAILOVER target HOST and PORT is not a replica.");
    if ((*found)->state != Replica::State::kOnline) {
      return Status::Reply("ERR FAILOVER target replica is not online.");
    }
  }
  const int64_t now_ms = MonotonicMs();
  failover_ = wish;
  failover_deadline_ms_ = wish.timeout_ms > 0 ? now_ms + std::min(wish.timeout_ms, INT64_MAX - now_ms) : 0;
  pause_.Begin(ClientPause::Purpose::kFailover, ClientPause::Mode::kWrites, now_ms, now_ms + kFailoverPauseMs);
  failover_state_ = Failover::kAwaitsSync;
  Log(LogSeverity::kNotice, "FAILOVER requested");
  log_.WantAcks();
  return Ok();
}

Status Replication::AbortFailover() {
  const MutexLock failing_over(failover_mutex_);
  if (failover_state_ == Failover::kNone) return Status::Reply("ERR No failover in progress.");
  return GiveFailoverUp("Failover manually aborted");
}

void Replication::EndFailover(std::string_view why) {
  failover_state_ = Failover::kNone;
  pause_.End(ClientPause::Purpose::kFailover);
  Log(LogSeverity::kNotice, "{}", why);
}

Status Replication::GiveFailoverUp(std::string_view why) {
  TRY(BecomePrimary());
  EndFailover(why);
  return Ok();
}

std::shared_ptr<Replica> Replication::FindSuccessor(bool must_have_all) {
  const Result<uint64_t> end = log_.ReadOffset();
  for (const auto& replica : replicas_.All()) {
    const PrimaryAddress address{replica->ip, replica->port};
    if (failover_.target && *failover_.target != address) continue;
    if (must_have_all && (!end.ok() || replica->state != Replica::State::kOnline || replica->acked < *end)) continue;
    return replica;
  }
  return nullptr;
}

void Replication::TickFailover(int64_t now_ms) {
  const MutexLock failing_over(failover_mutex_);
  const bool is_late = failover_deadline_ms_ > 0 && now_ms > failover_deadline_ms_;
  Status status;
  switch (failover_state_) {
    case Failover::kNone: return;
    case Failover::kAwaitsSync: status = TickAwaitsSync(is_late); break;
    case Failover::kAwaitsLast: status = TickAwaitsLast(is_late); break;
    case Failover::kHandsOver: status = TickHandsOver(); break;
  }
  if (!status.ok()) EndFailover(status.text());
}

// No client starts to write any more, but writes in progress go on. The offset that the successor needs is known only
// when this server is no longer a primary.
Status Replication::TickAwaitsSync(bool is_late) {
  successor_ = FindSuccessor(!(is_late && failover_.force));
  if (successor_ == nullptr) {
    if (is_late) EndFailover("Replica never caught up before timeout");
    return Ok();
  }
  {
    const MutexLock role(role_mutex_);
    TRY(StepDown({successor_->ip, successor_->port}, true));
  }
  failover_state_ = Failover::kAwaitsLast;
  return TickAwaitsLast(is_late);
}

Status Replication::TickAwaitsLast(bool is_late) {
  const bool has_all = successor_->acked >= log_.applied().offset;
  if (!has_all && !(is_late && failover_.force)) {
    return is_late || successor_->ended ? GiveFailoverUp("Replica never caught up before timeout") : Ok();
  }
  const MutexLock role(role_mutex_);
  failover_state_ = Failover::kHandsOver;
  BeginFollowing({successor_->ip, successor_->port}, true);
  successor_.reset();
  return Ok();
}

Status Replication::TickHandsOver() {
  const bool asks = primary_link_.asks_failover();  // first: a refusal is noted before the link stops to ask
  if (primary_link_.failover_refused()) return GiveFailoverUp("Failover target rejected psync request");
  if (!asks) EndFailover("Failover: this server is a replica now");
  return Ok();
}

Status Replication::Fork() {
  const MutexLock role(role_mutex_);
  TRY(log_.Fork());
  replicas_.DisconnectAll();
  return Ok();
}

void Replication::NoteAck(ClientSession& session, uint64_t acked, uint64_t synced) {
  replicas_.NoteAck(session, acked, synced);
  if (any_waiting_) WakeWaiting();
}

void Replication::OnPrimaryLink(bool up) {
  link_is_up_ = up;
  UpdateConditions();
}

void Replication::UpdateConditions() {
  const MutexLock updating(conditions_mutex_);
  const Settings& settings = config_.settings();
  const bool is_replica = primary().has_value();
  conditions_.Set(kKeepsExpired, is_replica);
  conditions_.Set(kReadOnlyReplica, is_replica && settings.replica_read_only);
  store_.interests().Set(kInterestInExpiries, is_replica && !settings.replica_read_only ? kInterestInExpiries : 0);
  if (!is_replica) writable_replica_expires_.Clear();
  conditions_.Set(kStaleReplica, is_replica && !link_is_up_ && !settings.replica_serve_stale_data);
  const int64_t wanted = settings.min_replicas_to_write;
  const bool counts = wanted > 0 && settings.min_replicas_max_lag_s > 0 && !is_replica;
  conditions_.Set(kTooFewReplicas, counts && replicas_.CountGood() < wanted);
}

void Replication::Tick(int64_t now_ms) {
  constexpr int64_t kCheckMs = 1000;
  if (failover_state_ != Failover::kNone) TickFailover(now_ms);
  if (config_.settings().min_replicas_to_write > 0 || conditions_.Has(kTooFewReplicas)) UpdateConditions();
  if (now_ms - checked_ms_ >= kCheckMs) {
    checked_ms_ = now_ms;
    replicas_.CheckTimes();
    const int64_t ttl_ms = config_.settings().repl_backlog_ttl_s * 1000;
    const int64_t left_ms = std::max(replicas_.last_left_ms(), alone_since_ms_.load());
    if (ttl_ms > 0 && log_.logs() && replicas_.count() == 0 && now_ms - left_ms > ttl_ms) log_.EndLogging();
    DropLogs(now_ms);
  }
  if (now_ms - pinged_ms_ < config_.settings().repl_ping_replica_period_s * 1000) return;
  pinged_ms_ = now_ms;
  if (replicas_.count() == 0 || primary()) return;
  constexpr std::string_view kPing[] = {"PING"};
  const Status pinged = log_.LogCommand(kPing);
  if (!pinged.ok()) Log(LogSeverity::kWarning, "replication: {}", pinged.text());
}

// With replicas this scans the whole data directory, so it runs seldom. A nearly full disk is an exception: there it
// deletes old logs that only disconnected replicas could ask for.
void Replication::DropLogs(int64_t now_ms) {
  constexpr int64_t kPauseMs = 10000;
  const bool is_short = store_.engine().disk_reserve().IsNearlyLow();
  if (!is_short && log_.logs() && now_ms - logs_dropped_ms_ < kPauseMs) return;
  logs_dropped_ms_ = now_ms;
  if (is_short) log_.ShortenTo(replicas_.FirstNeeded());
  const Status dropped = DropOldLogs(store_, [this] { return std::min(replicas_.FirstNeeded(), log_.FirstNeeded()); });
  if (!dropped.ok()) Log(LogSeverity::kWarning, "storage: old log files could not be deleted: {}", dropped.text());
}

void Replication::Forget(ClientSession& session) {
  replicas_.Forget(session);
  if (!any_waiting_) return;
  const MutexLock lock(mutex_);
  waiting_.erase(session.id());
  any_waiting_ = !waiting_.empty();
}

// ---- WAIT

void Replication::WakeWaiting() {
  std::vector<uint64_t> ids;
  {
    const MutexLock lock(mutex_);
    for (const auto& [id, offset] : waiting_) ids.push_back(id);
  }
  for (const uint64_t id : ids) {
    if (const auto session = clients_.Find(id)) session->Wake();
  }
}

// The client is registered before the replicas are counted, so an acknowledgement after the count wakes it.
Result<std::optional<int>> Replication::CountWaited(Session& session, const Wanted& wanted, bool gives_up) {
  ReleasableMutexLock lock(mutex_);
  auto found = waiting_.find(session.id());
  // After the client has ended its wait, the next one is new.
  const bool is_new = found == waiting_.end() || session.blocking.command == nullptr;
  if (is_new) {
    lock.Unlock();
    const uint64_t end = TRY(log_.ReadOffset(LogReader::Patience::kLong));
    lock.Lock();
    found = waiting_.insert_or_assign(session.id(), end).first;
    any_waiting_ = true;
  }
  const uint64_t offset = found->second;
  lock.Unlock();
  const int count = replicas_.CountAcked(offset, wanted.synced);
  if (!gives_up && count < wanted.replicas) {
    if (is_new) log_.WantAcks();
    return std::optional<int>();
  }
  lock.Lock();
  waiting_.erase(session.id());
  any_waiting_ = !waiting_.empty();
  return std::optional<int>(count);
}

}  // namespace cairn
