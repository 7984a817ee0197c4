// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/slot_move.h"

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "client/client_pause.h"
#include "client/notifier.h"
#include "cluster/cluster.h"
#include "command/dispatch.h"
#include "config/config.h"
#include "replication/blocking_socket.h"
#include "storage/store.h"
#include "storage/transaction.h"
#include "topology/slot_routes.h"

namespace cairn {
namespace {

constexpr int64_t kTimeoutMs = 5000;  // of the target
// Keys of one MIGRATE, which holds their locks, and their values in memory, until the target has them.
constexpr size_t kKeysAtOnce = 16;
constexpr std::chrono::milliseconds kPauseCheck{10};

Status Refuse(const std::string& why) { return Status::Reply("ERR " + why); }

// Whether this node may move the slots to the target.
Status Check(const Topology& topology, const SlotRange& slots, const NodeId& target) {
  const Node& me = topology.myself();
  const Node* const node = topology.Find(target);
  if (!topology.is_controlled) return Refuse("CLUSTERX MIGRATE needs a controller, which sets the nodes");
  if (node == nullptr) return Refuse("Can't find the destination node id");
  for (int slot = slots.first; slot <= slots.last; ++slot) {
    if (topology.SlotOwner(slot) != &me) return Refuse("Can't migrate slot which doesn't belong to me");
  }
  if (node->is_myself()) return Refuse("Can't migrate slot to myself");
  return node->is_master() ? Ok() : Refuse("Can't migrate slot to a slave");
}

}  // namespace

// What the thread of a move needs.
struct SlotMove::Worker {
  NodeId target;
  std::string host;
  int port;
  std::unique_ptr<Transaction> txn;
  Random random{static_cast<uint64_t>(WallUs())};
  Session session{0};
  std::vector<uint32_t> positions = {};
  std::vector<uint32_t> stripes = {};
};

Status SlotMove::Start(const SlotRange& slots, const NodeId& target) {
  TRY(parts_.cluster.With([&](const Topology& topology) { return Check(topology, slots, target); }));
  const MutexLock lock(mutex_);
  if (job_ && job_->state == State::kRunning) return Refuse("There is already a migrating job");
  job_ = Job{slots, target, State::kRunning};
  thread_.Wake();
  return Ok();
}

std::optional<SlotMove::Job> SlotMove::job() const {
  const MutexLock lock(mutex_);
  return job_;
}

void SlotMove::Run() {
  const Job job = *this->job();
  const Status moved = Move(job);
  if (!moved.ok()) {
    Log(LogSeverity::kWarning, "cluster: slots {}-{} were not moved to {}: {}", job.slots.first, job.slots.last,
        job.target.text(), moved.text());
  }
  const MutexLock lock(mutex_);
  job_->state = moved.ok() ? State::kDone : State::kFailed;
}

Status SlotMove::Move(const Job& job) {
  const bool with_tls = parts_.config.Flag("tls-cluster");
  Worker worker = parts_.cluster.With([&](const Topology& topology) {
    const Node* const node = topology.Find(job.target);
    return node == nullptr ? Worker{.target = job.target, .host = {}, .port = 0, .txn = nullptr}
                           : Worker{.target = job.target,
                                    .host = node->ip,
                                    .port = ClientPort(*node, with_tls),
                                    .txn = std::make_unique<Transaction>(parts_.store)};
  });
  if (worker.txn == nullptr) return Status::Io("the target has left the cluster");
  for (int slot = job.slots.first; slot <= job.slots.last; ++slot) TRY(MoveSlot(worker, slot));
  return Ok();
}

Status SlotMove::MoveSlot(Worker& worker, int slot) {
  const NodeId me = parts_.cluster.With([](const Topology& topology) { return topology.myself().id(); });
  TRY(TellTarget(worker, slot, "IMPORTING", me));
  TRY(parts_.cluster.Change([&](Topology& topology) -> Status {
    TRY(Check(topology, {slot, slot}, worker.target));
    topology.SetMigrating(slot, worker.target);
    return Ok();
  }));
  while (!thread_.is_stopping()) {
    const std::vector<std::string> keys = TRY(parts_.cluster.Keys(slot, kKeysAtOnce));
    if (keys.empty()) break;
    AwaitEndOfPause();
    TRY(MoveKeys(worker, keys));
  }
  if (thread_.is_stopping()) return Status::Io("the server stops");
  // From now on this node has no key of the slot and gets none. First the target serves it, then this node leaves it.
  TRY(TellTarget(worker, slot, "NODE", worker.target));
  return parts_.cluster.Change([&](Topology& topology) -> Status {
    TRY(Check(topology, {slot, slot}, worker.target));
    topology.SetMigrating(slot, std::nullopt);
    topology.UnassignSlot(slot);
    topology.AssignSlot(slot, worker.target);
    return Ok();
  });
}

Status SlotMove::TellTarget(const Worker& worker, int slot, std::string_view action, const NodeId& node) const {
  const std::string user = parts_.config.Text("masteruser");
  const std::string password = parts_.config.Text("masterauth");
  BlockingSocket target;
  const auto ask = [&target](std::initializer_list<std::string_view> words) -> Status {
    TRY(target.SendCommand(words, kTimeoutMs));
    const std::string line = TRY(target.ReadLine(kTimeoutMs));
    // The reply to the NODE of a move that broke off may have been lost.
    const bool is_refused = line.starts_with('-') && line.find("already the owner") == std::string::npos;
    return is_refused ? Status::Io("the target replied: " + line) : Ok();
  };
  TRY(target.Connect(worker.host, worker.port, kTimeoutMs, "",
                     parts_.config.Flag("tls-cluster") ? &parts_.tls : nullptr));
  if (!password.empty() && user.empty()) TRY(ask({"AUTH", password}));
  if (!password.empty() && !user.empty()) TRY(ask({"AUTH", user, password}));
  return ask({"CLUSTER", "SETSLOT", std::to_string(slot), action, node.text()});
}

// A pause of writes holds MIGRATE back too: for CLUSTER FAILOVER the replica must have everything.
void SlotMove::AwaitEndOfPause() const {
  while (parts_.pause.writes_until_ms() > MonotonicMs() && !thread_.is_stopping()) {
    std::this_thread::sleep_for(kPauseCheck);
  }
}

Status SlotMove::MoveKeys(Worker& worker, const std::vector<std::string>& keys) {
  const std::string port = std::to_string(worker.port);
  const std::string timeout = std::to_string(kTimeoutMs);
  const std::string user = parts_.config.Text("masteruser");
  const std::string password = parts_.config.Text("masterauth");
  // The target may have a key of a move that broke off; the one that is here is newer.
  std::vector<std::string_view> argv = {"MIGRATE", worker.host, port, "", "0", timeout, "REPLACE"};
  if (!password.empty() && user.empty()) argv.insert(argv.end(), {"AUTH", password});
  if (!password.empty() && !user.empty()) argv.insert(argv.end(), {"AUTH2", user, password});
  argv.emplace_back("KEYS");
  argv.insert(argv.end(), keys.begin(), keys.end());
  Transaction& txn = *worker.txn;
  std::string out;
  Reply reply(out, 2);
  CommandWorker command{txn, worker.random, Lane::kSlow, worker.positions, worker.stripes};
  static_cast<void>(parts_.dispatcher.Execute(command, worker.session, argv, reply));
  if (!txn.batch().dirty()) {
    txn.Discard();
  } else if (Status committed = txn.Commit(CommitMode::kWait); !committed.ok()) {
    static_cast<void>(txn.notifications().Take());
    return committed;
  }
  parts_.notifier.Deliver(txn);
  return out.starts_with('-') ? Status::Io(out.substr(1, out.find('\r') - 1)) : Ok();
}

}  // namespace cairn
