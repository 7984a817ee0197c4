// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/node.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "simulation/clock.h"
#include "simulation/link_seams.h"
#include "storage/compaction_scope.h"
#include "types/expiry.h"

namespace cairn::simulation {
namespace {

constexpr uint64_t kMemoryBytes = 64 << 20;
constexpr uint64_t kBlockCacheBytes = 4 << 20;
constexpr uint64_t kFewSteps = 48;  // up to here a command is interrupted at each step, then at some
constexpr uint64_t kManyKeys = 1 << 20;
constexpr int kMostTries = 10'000;
constexpr int kMostWaits = 20'000;
constexpr useconds_t kWaitUs = 500;  // for RocksDB's threads, which have the system's clock

using rocksdb::Env;

void UseOneThread(rocksdb::DB& db) {
  db.GetEnv()->SetBackgroundThreads(0, Env::HIGH);  // flushes run on the thread of compactions
  db.GetEnv()->SetBackgroundThreads(1 + seams.lost_threads, Env::LOW);
}

// For RocksDB's threads.
void WaitAMoment() {
  usleep(kWaitUs);
  if (seams.on_wait) seams.on_wait();
}

}  // namespace

Result<std::unique_ptr<Node>> Node::Open(const std::string& dir, const Setting& setting, OnTick on_tick) {
  StoreOptions options;
  options.dir = dir;
  options.databases = kDatabases;
  options.budget = Budget::Of(kMemoryBytes);
  options.budget.key_cache = setting.key_cache_bytes;
  options.budget.block_cache = kBlockCacheBytes;
  options.subcompactions = 1;
  options.keeps_logs = setting.replicas > 0;
  Env::Default()->SetBackgroundThreads(1 + seams.lost_threads, Env::HIGH);
  std::unique_ptr<Store> store = TRY(Store::Open(options));
  UseOneThread(store->engine().db());
  if (setting.appendfsync == AppendFsync::kAlways) TRY(store->log().SetSyncsCommits(true));
  return std::unique_ptr<Node>(new Node(std::move(store), setting, std::move(on_tick)));
}

Node::Node(std::unique_ptr<Store> store, const Setting& setting, OnTick on_tick)
    : store_(std::move(store)), on_tick_(std::move(on_tick)), workers_(setting.workers),
      slow_(std::make_unique<Transaction>(*store_)) {
  SetLimits(setting.is_small);
  store_->set_listener(&services_.waiters);
  uint64_t id = 0;
  for (Worker& worker : workers_) {
    worker.open = std::make_unique<Transaction>(*store_);
    worker.handed = std::make_unique<Transaction>(*store_);
    for (int db = 0; db < kDatabases; ++db) {
      worker.sessions[static_cast<size_t>(db)] = std::make_unique<Session>(++id);
      worker.sessions[static_cast<size_t>(db)]->db = db;
    }
  }
  AwaitQuiet();
}

Node::~Node() {
  for (Worker& worker : workers_) {
    for (const auto& session : worker.sessions) dispatcher_.Forget(*session);
  }
  workers_.clear();
  slow_.reset();
  stream_log_.reset();
  Env::Default()->SetBackgroundThreads(1, Env::HIGH);  // it removes the files that readers have released
  store_.reset();
}

void Node::SetLimits(bool is_small) {
  if (!is_small) return;
  Limits& limits = services_.config.limits();
  limits.hash_max_listpack_entries = 3;
  limits.set_max_intset_entries = 4;
  limits.set_max_listpack_entries = 3;
  limits.zset_max_listpack_entries = 3;
  limits.list_max_listpack_size = 4;
  limits.stream_node_max_entries = 3;
  limits.packed_max_bytes = 400;
  limits.packed_large_max_bytes = 60;
}

Status Node::StartStream() {
  const StreamLog::Events events{.has_replicas = [] { return true; },
                                 .on_stream_changed = [this] { has_stream_changed_ = true; }};
  stream_log_ = std::make_unique<StreamLog>(*store_, services_.config.settings(), events);
  return stream_log_->Start();
}

// ---- commands

Reply Node::Run(size_t index, int db, const Words& words, bool is_interrupted) {
  Worker& worker = workers_[index];
  Session& session = *worker.sessions[static_cast<size_t>(db)];
  const std::vector<std::string_view> argv(words.begin(), words.end());
  fetched_.clear();
  uint64_t steps = is_interrupted ? 0 : CommandState::kFastLaneSteps;
  for (int tries = 0; tries < kMostTries; ++tries) {
    std::string out;
    cairn::Reply reply(out, 2);
    CommandWorker on{*worker.open, random_, Lane::kFast, worker.positions, worker.stripes};
    seams.fast_lane_steps = steps;
    const Outcome outcome = dispatcher_.Execute(on, session, argv, reply);
    seams.fast_lane_steps = UINT64_MAX;
    if (outcome.verdict == Verdict::kParked) dispatcher_.Forget(session);
    if (outcome.verdict != Verdict::kWouldWait && worker.is_lost) {  // since an earlier run of the command met a lock
      CommitOpen(index);
      return Failure("SIMULATION the tick is lost");
    }
    if (outcome.verdict == Verdict::kDone) {
      std::string_view bytes(out);
      Reply parsed = ParseReply(bytes);
      return bytes.empty() ? parsed : Failure("SIMULATION more than one reply");
    }
    if (!out.empty()) return Failure("SIMULATION a command that waits has replied");
    if (outcome.verdict == Verdict::kParked) return {Reply::Kind::kWaits};
    ++reruns_;
    if (steps > CommandState::kFastLaneSteps) return RunOnSlowLane(worker, session, argv);
    MakeWay(worker, steps);
  }
  return Failure("SIMULATION a command that never ends");
}

// Does what the command would have waited for. `steps` beyond the budget: it must run on the slow lane.
void Node::MakeWay(Worker& worker, uint64_t& steps) {
  CommandState& command = worker.open->command();
  if (const std::string row = command.TakeMissingRow(); !row.empty() && row != fetched_) {
    store_->engine().Fetch(row);
    fetched_ = row;
  } else if (command.met_lock() && CommitOthers(worker)) {
    return;
  } else {
    steps += 1 + (steps > kFewSteps ? steps / 4 : 0);
  }
}

// Returns whether there was a tick to commit.
bool Node::CommitOthers(const Worker& worker) {
  bool any = false;
  for (size_t i = 0; i < workers_.size(); ++i) {
    const bool has_open = &workers_[i] != &worker && !workers_[i].open->stripes().empty();
    any = any || has_open || workers_[i].is_handed;
    CommitHanded(i);
    if (has_open) CommitOpen(i);
  }
  return any;
}

Reply Node::RunOnSlowLane(Worker& worker, Session& session, std::span<const std::string_view> argv) {
  CommitAll();
  std::string out;
  cairn::Reply reply(out, 2);
  CommandWorker on{*worker.open, random_, Lane::kSlow, worker.positions, worker.stripes};
  const Outcome outcome = dispatcher_.Execute(on, session, argv, reply);
  if (outcome.verdict == Verdict::kParked) {
    dispatcher_.Forget(session);
    return {Reply::Kind::kWaits};
  }
  std::string_view bytes(out);
  return ParseReply(bytes);
}

Reply Node::Read(int db, const Words& words) {
  const std::vector<std::string_view> argv(words.begin(), words.end());
  Worker& worker = workers_[0];
  std::string out;
  cairn::Reply reply(out, 2);
  CommandWorker on{*slow_, random_, Lane::kSlow, worker.positions, worker.stripes};
  static_cast<void>(dispatcher_.Execute(on, *worker.sessions[static_cast<size_t>(db)], argv, reply));
  const Status committed = slow_->Commit(CommitMode::kWait);  // of expired keys that it found
  if (!committed.ok()) return Failure("SIMULATION " + std::string(committed.text()));
  std::string_view bytes(out);
  return ParseReply(bytes);
}

// ---- ticks

void Node::Commit(size_t worker) {
  CommitHanded(worker);
  CommitOpen(worker);
}

void Node::CommitOpen(size_t index) {
  Worker& worker = workers_[index];
  if (worker.is_lost) {
    worker.is_lost = false;
    static_cast<void>(worker.open->notifications().Take());
    worker.open->Discard();
    on_tick_({index, false}, TickEvent::kLost);
    return;
  }
  committing_ = {{index, false}};
  const Status status = worker.open->Commit(CommitMode::kWait);
  committing_.clear();
  static_cast<void>(worker.open->notifications().Take());
  on_tick_({index, false}, status.ok() ? TickEvent::kCommitted : TickEvent::kLost);
}

void Node::HandOver(size_t index) {
  Worker& worker = workers_[index];
  CommitHanded(index);
  if (worker.is_lost || !worker.open->batch().dirty()) return CommitOpen(index);
  std::swap(worker.open, worker.handed);
  worker.is_handed = true;
  on_tick_({index, true}, TickEvent::kHandedOver);
  if (worker.handed->databases().keyspaces().empty()) {
    worker.open->SetPredecessor(worker.handed.get());
  } else {
    CommitHanded(index);
  }
}

void Node::CommitHanded(size_t index) {
  if (!workers_[index].is_handed) return;
  committing_ = {{index, true}};
  const Status status = workers_[index].handed->batch().Write(CommitMode::kWait);
  committing_.clear();
  EndHanded(index, status);
}

void Node::EndHanded(size_t index, const Status& status) {
  Worker& worker = workers_[index];
  worker.is_handed = false;
  static_cast<void>(worker.handed->notifications().Take());
  worker.is_lost = !status.ok() && worker.open->stripes().has_taken_over();
  worker.open->SetPredecessor(nullptr);
  worker.handed->EndTick(status.ok());
  on_tick_({index, true}, status.ok() ? TickEvent::kCommitted : TickEvent::kLost);
}

void Node::CommitAll() {
  for (size_t i = 0; i < workers_.size(); ++i) Commit(i);
}

void Node::CommitTogether() {
  for (size_t i = 0; i < workers_.size(); ++i) HandOver(i);
  std::vector<Status> statuses(workers_.size());
  uint64_t last = 0;
  for (size_t i = 0; i < workers_.size(); ++i) {
    if (!workers_[i].is_handed) continue;
    CommitBatch& batch = workers_[i].handed->batch();
    committing_.push_back({i, true});
    statuses[i] = batch.must_sync() ? batch.Append(CommitMode::kWait) : batch.Write(CommitMode::kWait);
    last = std::max(last, batch.unsynced_sequence());
  }
  if (last != 0) store_->log().MakeDurable(last);
  committing_.clear();
  for (size_t i = 0; i < workers_.size(); ++i) {
    if (!workers_[i].is_handed) continue;
    workers_[i].handed->batch().Publish();
    EndHanded(i, statuses[i]);
  }
}

// ---- background work

// Waits until no flush and no compaction is due.
void Node::AwaitQuiet() {
  using Properties = rocksdb::DB::Properties;
  for (int i = 0; i < kMostWaits; ++i) {
    uint64_t busy = 0;
    for (const std::string& name : {Properties::kNumRunningFlushes, Properties::kNumRunningCompactions,
                                    Properties::kMemTableFlushPending, Properties::kCompactionPending}) {
      busy += store_->engine().Property(name);
    }
    if (busy == 0 || !store_->recovery().writable()) return;
    WaitAMoment();
  }
}

bool Node::AwaitRecovery() {
  for (int i = 0; i < kMostWaits && !store_->recovery().writable(); ++i) WaitAMoment();
  AwaitQuiet();
  return store_->recovery().writable();
}

Status Node::Flush() {
  Status flushed = store_->engine().Flush();
  AwaitQuiet();
  return flushed;
}

Status Node::Compact() {
  Status compacted = store_->compactor().Compact(ScopeOfAll());
  AwaitQuiet();
  return compacted;
}

Status Node::DropFromMemory() {
  TRY(Flush());
  Engine& engine = store_->engine();
  Budget none = engine.options().budget;
  none.block_cache = 0;
  engine.SetMemory(none);
  engine.SetMemory(engine.options().budget);
  store_->cache().EraseAll();
  return Ok();
}

Status Node::RunUpkeep() {
  CommitAll();
  store_->engine().Watch();
  TRY(store_->lazy_free().Run(*store_));
  TRY(ExpireDue(*slow_, services_.config.limits(), VirtualClock::NowMs(), kManyKeys, [] { return true; }));
  AwaitQuiet();
  return Ok();
}

}  // namespace cairn::simulation
