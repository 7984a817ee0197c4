// SPDX-License-Identifier: BSD-3-Clause
//
// Node: a store with its dispatcher, and workers that run commands on it as the server's threads do, but all on one
// thread. Their ticks overlap: a worker meets keys that another one has locked, and a tick that was handed over is
// still being committed while the next one runs (server/command_worker.h).
//
// A command runs on the fast lane. If it would wait, the node does what it waits for (commits the ticks that hold the
// keys, reads the missing row, gives it more steps) and runs it again from its start, at last on the slow lane.
//
// RocksDB has one thread for flushes and compactions, and the node waits for it, so that a run can be repeated.
//
// Thread: one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "command/dispatch.h"
#include "replication/stream_log.h"
#include "simulation/services.h"
#include "simulation/step.h"
#include "storage/store.h"
#include "storage/transaction.h"

namespace cairn::simulation {

constexpr int kDatabases = 2;

// A worker's tick: its open one, or the one it has handed over.
struct TickName {
  size_t worker;
  bool handed_over;
};

class Node {
 public:
  enum class TickEvent : unsigned char { kHandedOver, kCommitted, kLost };
  // `tick` is the one that was handed over, or that ended.
  using OnTick = std::function<void(TickName tick, TickEvent event)>;

  // Opens the store in `dir`.
  static Result<std::unique_ptr<Node>> Open(const std::string& dir, const Setting& setting, OnTick on_tick);
  ~Node();

  // Runs a command on a worker's open tick. `is_interrupted`: at each of its steps in turn.
  Reply Run(size_t worker, int db, const Words& argv, bool is_interrupted);
  // Runs a command that does not change data. REQUIRES: no tick is open.
  Reply Read(int db, const Words& argv);

  void Commit(size_t worker);
  void HandOver(size_t worker);
  void CommitAll();
  // Appends all ticks to the log, syncs it once, and makes them visible.
  void CommitTogether();
  Status Sync() { return store_->log().Sync(); }
  Status Flush();
  Status Compact();
  Status RunUpkeep();
  // The next upkeep tries again what it could not read.
  void RetrySkipped() { store_->expiry_start(StorageMode::kSsd).Note(0); }
  // All committed rows leave the memory, so that the next reads are of tables.
  Status DropFromMemory();
  // Waits until RocksDB has recovered from an error; false if it does not.
  bool AwaitRecovery();
  Store& store() { return *store_; }
  Services& services() { return services_; }

  // ---- replication
  Status StartStream();
  // Null before StartStream.
  StreamLog* stream_log() { return stream_log_.get(); }
  const StreamLog* stream_log() const { return stream_log_.get(); }
  // Whether all replicas must connect anew since the last call.
  bool TakeStreamChange() { return std::exchange(has_stream_changed_, false); }

  // The ticks whose commit is running, in their order.
  const std::vector<TickName>& committing() const { return committing_; }
  uint64_t reruns() const { return reruns_; }

 private:
  struct Worker {
    std::unique_ptr<Transaction> open;
    std::unique_ptr<Transaction> handed;
    bool is_handed = false;
    bool is_lost = false;  // the handed tick failed, and the open one has read its rows
    std::array<std::unique_ptr<Session>, kDatabases> sessions;
    std::vector<uint32_t> positions;
    std::vector<uint32_t> stripes;
  };

  Node(std::unique_ptr<Store> store, const Setting& setting, OnTick on_tick);
  void SetLimits(bool is_small);
  Reply RunOnSlowLane(Worker& worker, Session& session, std::span<const std::string_view> argv);
  void MakeWay(Worker& worker, uint64_t& steps);
  bool CommitOthers(const Worker& worker);
  void CommitOpen(size_t index);
  void CommitHanded(size_t index);
  void EndHanded(size_t index, const Status& status);
  void AwaitQuiet();

  std::unique_ptr<Store> store_;
  const OnTick on_tick_;
  Services services_;
  Dispatcher& dispatcher_ = services_.dispatcher;
  std::unique_ptr<StreamLog> stream_log_;
  bool has_stream_changed_ = false;
  Random random_{1};
  std::vector<Worker> workers_;
  std::unique_ptr<Transaction> slow_;
  std::vector<TickName> committing_;
  std::string fetched_;  // the row that the running command has waited for last
  uint64_t reruns_ = 0;
};

// The whole state, read with commands. REQUIRES: no tick is open.
Keys ReadState(Node& node);

}  // namespace cairn::simulation
