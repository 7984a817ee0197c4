// SPDX-License-Identifier: BSD-3-Clause
//
// Simulation: runs steps on a node and a model and compares them: each reply, the whole state at checks, and what is
// left after a crash. Throws Mismatch at the first difference.
//
// If Cairn ends its process, the run ends: the state that it left behind is compared, and the program exits.
//
// Thread: one; the end of the process may come from another one.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "simulation/disk.h"
#include "simulation/history.h"
#include "simulation/mismatch.h"
#include "simulation/node.h"
#include "simulation/replica.h"
#include "simulation/step.h"

namespace cairn::simulation {

// What a run did, for the report of many runs.
struct Totals {
  uint64_t commands = 0;
  uint64_t reruns = 0;
  uint64_t crashes = 0;
  uint64_t faults = 0;
  uint64_t failed_reads = 0;
  uint64_t disk_steps = 0;
  uint64_t ends = 0;    // of the process, by Cairn itself
  uint64_t starts = 0;  // that a power loss interrupted
  uint64_t full_syncs = 0;
  uint64_t partial_syncs = 0;
  uint64_t cuts = 0;  // of links that were up
  uint64_t replica_crashes = 0;
  uint64_t replica_faults = 0;
  uint64_t replica_checks = 0;
};

// One line, which tests/simulation/run adds up.
std::string ToText(const Totals& totals);

class Simulation {
 public:
  // `folder`: a new one for the data directories.
  Simulation(const Setting& setting, std::string folder);
  ~Simulation();

  void Run(const Step& step);
  // What was done so far.
  Totals totals() const;

 private:
  // ---- steps
  void Dispatch(const Step& step);
  void RunCommands(const Step& step);
  void RunTransaction(const Step& step);
  void RunScript(const Step& step);
  void CompareAll(const Step& step, const Reply& all);
  void Check();
  void Restart();
  void Advance(int64_t ms);
  static FaultPlan MakeFault(const Step& step);
  static void FailReads(Node& node, const std::shared_ptr<Disk>& disk, const Step& step);

  // ---- the model
  Keys ViewOf(size_t worker) const;
  void Compare(const Step& step, const Words& argv, const Reply& actual);
  void OnTick(TickName tick, Node::TickEvent event);
  void RequireUnlessFailed(const Status& status, const char* what) const;

  // ---- replicas (simulation_replicas.cc)
  void AddReplicas();
  void RunReplicaStep(const Step& step);
  Status Link(Replica& replica, const Transfer& transfer, uint64_t most);
  void CutLinks();
  void Cut(Replica& replica);
  void RecoverReplica(Replica& replica);
  void RecoverReplicas();
  // What a replica whose process has ended left behind is compared. False: the disk of no replica has failed.
  bool EndReplica();
  void CheckReplicas();
  void CheckReplica(Replica& replica, const Keys& expected);

  // ---- lives of the node
  void Open();
  // A power loss during a start, or just after one, on the image of the last power loss.
  void InterruptStart(uint64_t seed);
  void MoveOn();
  void EndLife();
  void OpenAfterCrash();
  static void CheckRows(const std::string& dir);
  void Crash(uint64_t disk_steps, uint64_t seed);
  void Recover();
  void NoticeFault();
  void RecoverFromFault();
  void OnEnd(std::string_view why);
  void TakeEnd();
  [[noreturn]] void End(std::string_view why);
  void EndNode();

  // The end of Cairn's process that another thread has asked for.
  enum class EndState : unsigned char { kNone, kAsked, kTaken };

  const std::thread::id thread_ = std::this_thread::get_id();
  std::atomic<EndState> end_ = EndState::kNone;
  std::string end_why_;  // set before end_
  const Setting setting_;
  const std::string folder_;
  uint64_t lives_ = 0;
  std::string dir_;
  std::shared_ptr<Disk> disk_;
  std::unique_ptr<Node> node_;
  History history_;
  std::optional<History> crash_history_;  // since the crash image was written
  std::vector<Changes> open_;             // by worker
  std::vector<Changes> handed_;
  size_t steps_since_crash_armed_ = 0;
  bool is_crash_armed_ = false;
  uint64_t crash_seed_ = 0;
  uint64_t failed_before_ = 0;  // Disk::failed_steps() at the end of the last recovery
  Totals totals_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::map<std::pair<std::string, uint64_t>, Keys> at_offset_;  // the state after so much of a stream, by its id
};

}  // namespace cairn::simulation
