// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/simulation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "check/findings.h"
#include "check/row_check.h"
#include "simulation/clock.h"
#include "simulation/link_seams.h"
#include "simulation/read_faults.h"
#include "storage/offline_database.h"

namespace cairn::simulation {
namespace {

constexpr size_t kLongestWaitForCrash = 12;  // steps
constexpr int kLostThreads = 4;
constexpr uint64_t kStartsPerInterruption = 4;
constexpr uint64_t kMostStepsOfStart = 40;  // of the disk
constexpr int kMostEndWaits = 2000;
constexpr useconds_t kEndWaitUs = 1000;
// Runs commands that follow each other in ARGV, each after its number of words.
constexpr const char* kScript =
    "local replies, i = {}, 1 "
    "while i <= #ARGV do "
    "  local words = tonumber(ARGV[i]) "
    "  replies[#replies + 1] = redis.pcall(unpack(ARGV, i + 1, i + words)) "
    "  i = i + words + 1 "
    "end "
    "return replies";

// A script has numbers as doubles, so a large integer that it returns is another one, as with Redis.
bool AreTooLargeForLua(const Reply& a, const Reply& b) {
  constexpr size_t kExactDigits = 15;
  const auto is_large = [](const Reply& reply) {
    return reply.kind == Reply::Kind::kInteger && reply.text.size() > kExactDigits;
  };
  return is_large(a) && is_large(b);
}

[[noreturn]] void StandStill() {
  for (;;) pause();
}

std::string FolderOf(const std::string& folder, uint64_t life) { return folder + "/" + std::to_string(life); }

}  // namespace

std::string ToText(const Totals& totals) {
  return fmt::format(
      "commands {} reruns {} crashes {} faults {} failed reads {} disk steps {} ends {} interrupted starts {} "
      "full syncs {} partial syncs {} cuts {} crashes of replicas {} faults of replicas {} checks of replicas {}",
      totals.commands, totals.reruns, totals.crashes, totals.faults, totals.failed_reads, totals.disk_steps,
      totals.ends, totals.starts, totals.full_syncs, totals.partial_syncs, totals.cuts, totals.replica_crashes,
      totals.replica_faults, totals.replica_checks);
}

Simulation::Simulation(const Setting& setting, std::string folder)
    : setting_(setting), folder_(std::move(folder)), open_(setting.workers), handed_(setting.workers) {
  VirtualClock::Reset();
  seams.on_end = [this](std::string_view why) { OnEnd(why); };
  seams.on_wait = [this] { TakeEnd(); };
  seams.on_fdatasync = [this](int fd) {
    std::error_code error;
    const std::string path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error);
    return disk_->Sync(path) && std::ranges::all_of(replicas_, [&](auto& one) { return one->disk()->Sync(path); });
  };
  dir_ = FolderOf(folder_, lives_);
  Open();
  AddReplicas();
}

Simulation::~Simulation() {
  replicas_.clear();
  node_.reset();
  seams = LinkSeams();
}

void Simulation::Run(const Step& step) {
  TakeEnd();
  NoticeFault();  // RocksDB's threads may have met it since the last step
  RecoverReplicas();
  Dispatch(step);
  if (is_crash_armed_ && ++steps_since_crash_armed_ > kLongestWaitForCrash && !disk_->has_crashed()) {
    Crash(0, step.seed);
  }
  if (disk_->has_crashed()) {
    Recover();
  } else {
    NoticeFault();
  }
  RecoverReplicas();
}

Totals Simulation::totals() const {
  Totals totals = totals_;
  if (node_ != nullptr) totals.reruns += node_->reruns();
  totals.disk_steps += disk_->steps();
  totals.failed_reads = read_faults.hits();
  for (const auto& replica : replicas_) {
    totals.full_syncs += replica->full_syncs();
    totals.partial_syncs += replica->partial_syncs();
  }
  return totals;
}

// ---- steps

void Simulation::Dispatch(const Step& step) {
  switch (step.kind) {
    case StepKind::kCommands:
      if (step.commands.size() == 1) return RunCommands(step);
      return step.is_script ? RunScript(step) : RunTransaction(step);
    case StepKind::kCommit: return node_->Commit(step.worker);
    case StepKind::kHandOver: return node_->HandOver(step.worker);
    case StepKind::kGroupCommit: return node_->CommitTogether();
    case StepKind::kSync: {
      if (setting_.appendfsync == AppendFsync::kNo) return;
      const Status synced = node_->Sync();
      if (synced.ok()) history_.NoteSynced();
      return RequireUnlessFailed(synced, "sync");
    }
    case StepKind::kFlush: return RequireUnlessFailed(node_->Flush(), "flush");
    case StepKind::kCompact: return RequireUnlessFailed(node_->Compact(), "compaction");
    case StepKind::kUpkeep: return RequireUnlessFailed(node_->RunUpkeep(), "upkeep");
    case StepKind::kAdvance: return Advance(static_cast<int64_t>(step.amount));
    case StepKind::kCheck: return Check();
    case StepKind::kRestart: return Restart();
    case StepKind::kCrash: return Crash(step.amount, step.seed);
    case StepKind::kFault: ++totals_.faults; return disk_->FailAfter(MakeFault(step));
    case StepKind::kReadFault: return FailReads(*node_, disk_, step);
    default: return RunReplicaStep(step);
  }
}

void Simulation::RunCommands(const Step& step) {
  for (const Words& argv : step.commands) {
    Compare(step, argv, node_->Run(step.worker, step.db, argv, step.is_interrupted));
  }
}

void Simulation::RunTransaction(const Step& step) {
  static_cast<void>(node_->Run(step.worker, step.db, {"MULTI"}, false));
  for (const Words& argv : step.commands) {
    const Reply queued = node_->Run(step.worker, step.db, argv, false);
    if (queued.text != "QUEUED") throw Mismatch{"not queued: " + ToText(queued)};
  }
  CompareAll(step, node_->Run(step.worker, step.db, {"EXEC"}, step.is_interrupted));
}

// Half of the scripts name the keys of their commands, and the others none.
void Simulation::RunScript(const Step& step) {
  Words words{"EVAL", kScript, "0"};
  if (step.commands.size() % 2 == 0) {
    for (const Words& argv : step.commands) words.push_back(argv.size() > 1 ? argv[1] : "");
    words[2] = std::to_string(step.commands.size());
  }
  for (const Words& argv : step.commands) {
    words.push_back(std::to_string(argv.size()));
    words.insert(words.end(), argv.begin(), argv.end());
  }
  CompareAll(step, node_->Run(step.worker, step.db, words, step.is_interrupted));
}

void Simulation::CompareAll(const Step& step, const Reply& all) {
  if (all.kind == Reply::Kind::kError && disk_->failed_steps() != failed_before_) return;
  if (all.items.size() != step.commands.size()) throw Mismatch{"EXEC or EVAL: " + ToText(all)};
  for (size_t i = 0; i < step.commands.size(); ++i) Compare(step, step.commands[i], all.items[i]);
}

void Simulation::Check() {
  node_->CommitAll();
  if (disk_->failed_steps() != failed_before_) return;
  const Status kept = node_->RunUpkeep();
  if (!kept.ok()) return RequireUnlessFailed(kept, "upkeep");
  Model expected(history_.newest());
  expected.DropExpired(VirtualClock::NowMs());
  const Keys actual = ReadState(*node_);
  if (disk_->failed_steps() != failed_before_) return;
  const std::string difference = FindDifference(expected.keys(), actual);
  if (!difference.empty()) throw Mismatch{"the state differs: " + difference};
  std::vector<int64_t> counts(kDatabases);
  for (const auto& [name, entry] : actual) ++counts[static_cast<size_t>(name.db)];
  for (int db = 0; db < kDatabases; ++db) {
    const Reply size = node_->Read(db, {"DBSIZE"});
    if (!Matches(Integer(counts[static_cast<size_t>(db)]), size)) {
      throw Mismatch{
          fmt::format("DBSIZE of database {} is {}, not {}", db, ToText(size), counts[static_cast<size_t>(db)])};
    }
  }
}

void Simulation::Restart() {
  node_->CommitAll();
  if (disk_->failed_steps() != failed_before_ || disk_->has_crashed()) return;
  EndLife();
  CutLinks();
  node_.reset();
  if (disk_->has_crashed()) return OpenAfterCrash();
  is_crash_armed_ = false;
  history_.NoteSynced();
  Open();
  Check();
}

void Simulation::Advance(int64_t ms) {
  VirtualClock::Advance(ms);
  bool has_dead_hash = false;
  for (size_t i = 0; i < setting_.workers; ++i) {
    has_dead_hash = has_dead_hash || HasDeadHash(ViewOf(i), VirtualClock::NowMs());
  }
  if (has_dead_hash) RequireUnlessFailed(node_->RunUpkeep(), "upkeep");
}

FaultPlan Simulation::MakeFault(const Step& step) {
  return {
      .steps_away = step.amount, .count = 1 + step.seed / 2 % 3, .no_space = step.seed % 2 == 0, .seed = step.seed / 8};
}

void Simulation::FailReads(Node& node, const std::shared_ptr<Disk>& disk, const Step& step) {
  if (!node.DropFromMemory().ok()) return;
  read_faults.Ask(disk);
  disk->FailReadsAfter(step.amount, 1 + step.seed % 3);
}

// ---- the model

// What the commands of a worker's open tick see: keys of other ticks are locked.
Keys Simulation::ViewOf(size_t worker) const {
  Keys keys = history_.newest();
  Apply(handed_[worker], keys);
  Apply(open_[worker], keys);
  return keys;
}

void Simulation::Compare(const Step& step, const Words& argv, const Reply& actual) {
  ++totals_.commands;
  if (actual.kind == Reply::Kind::kError && disk_->failed_steps() != failed_before_) return;
  const int64_t now_ms = VirtualClock::NowMs();
  Model model(ViewOf(step.worker));
  model.DropExpired(now_ms);
  const Keys before = model.keys();
  const Reply expected = model.Run(step.db, now_ms, argv, actual);
  if (!Matches(expected, actual) && !(step.is_script && AreTooLargeForLua(expected, actual))) {
    throw Mismatch{"the reply differs\n  expected: " + ToText(expected) + "\n  is:       " + ToText(actual)};
  }
  Changes& changes = open_[step.worker];
  for (const auto& [name, entry] : before) {
    if (!model.keys().contains(name)) changes[name] = std::nullopt;
  }
  for (const auto& [name, entry] : model.keys()) {
    const auto old = before.find(name);
    const bool is_same =
        old != before.end() && old->second.value == entry.value && old->second.expire_ms == entry.expire_ms;
    if (!is_same) changes[name] = entry;
  }
}

void Simulation::OnTick(TickName tick, Node::TickEvent event) {
  if (event == Node::TickEvent::kHandedOver) return open_[tick.worker].swap(handed_[tick.worker]);
  Changes& changes = (tick.handed_over ? handed_ : open_)[tick.worker];
  if (event == Node::TickEvent::kCommitted) {
    history_.Commit(changes);
    if (crash_history_) crash_history_->Commit(changes);
    if (setting_.appendfsync == AppendFsync::kAlways) history_.NoteSynced();
  } else if (disk_->failed_steps() == failed_before_) {
    throw Mismatch{"a commit failed without a fault of the disk"};
  }
  changes.clear();
}

void Simulation::RequireUnlessFailed(const Status& status, const char* what) const {
  if (status.ok() || disk_->failed_steps() != failed_before_) return;
  throw Mismatch{std::string(what) + " failed: " + std::string(status.text())};
}

// ---- lives of the node

void Simulation::Open() {
  read_faults.Ask(nullptr);
  disk_.reset();
  seams.disk.reset();
  disk_ = std::make_shared<Disk>(dir_);
  failed_before_ = 0;
  seams.disk = disk_;
  auto node = Node::Open(dir_, setting_, [this](TickName tick, Node::TickEvent event) { OnTick(tick, event); });
  if (!node.ok()) throw Mismatch{"the store does not open: " + std::string(node.status().text())};
  node_ = std::move(*node);
  if (setting_.replicas == 0) return;
  const Status started = node_->StartStream();
  if (!started.ok()) throw Mismatch{"the stream does not start: " + std::string(started.text())};
}

void Simulation::Crash(uint64_t disk_steps, uint64_t seed) {
  if (is_crash_armed_ && disk_steps != 0) return;
  const CrashPlan plan{FolderOf(folder_, lives_ + 1), static_cast<Loss>(seed / 2 % 3), seed};
  crash_seed_ = seed;
  is_crash_armed_ = true;
  steps_since_crash_armed_ = 0;
  disk_->CrashAfter(disk_steps, plan, [this] { crash_history_ = history_; });
}

void Simulation::EndLife() {
  if (node_ != nullptr) totals_.reruns += node_->reruns();
  totals_.disk_steps += disk_->steps();
}

void Simulation::Recover() {
  EndLife();
  CutLinks();
  disk_->EndFaults();
  if (node_->AwaitRecovery()) {
    node_.reset();
  } else {
    static_cast<void>(node_.release());  // RocksDB cannot be closed while it recovers
  }
  OpenAfterCrash();
}

void Simulation::OpenAfterCrash() {
  ++totals_.crashes;
  is_crash_armed_ = false;
  history_ = *std::exchange(crash_history_, std::nullopt);
  for (Changes& changes : open_) changes.clear();
  for (Changes& changes : handed_) changes.clear();
  MoveOn();
  if (crash_seed_ / 8 % kStartsPerInterruption == 0) InterruptStart(crash_seed_ / 32);
  CheckRows(dir_);
  Open();
  const std::string difference = history_.ContinueFrom(ReadState(*node_), VirtualClock::NowMs());
  if (!difference.empty()) throw Mismatch{"after the crash " + difference};
  Check();
}

// To the folder of the next life.
void Simulation::MoveOn() {
  std::error_code error;
  std::filesystem::remove_all(std::exchange(dir_, FolderOf(folder_, ++lives_)), error);
}

void Simulation::InterruptStart(uint64_t seed) {
  seams.disk.reset();
  const auto disk = std::make_shared<Disk>(dir_);
  seams.disk = disk;
  const CrashPlan plan{FolderOf(folder_, lives_ + 1), static_cast<Loss>(seed / 2 % 3), seed};
  disk->CrashAfter(1 + seed / 8 % kMostStepsOfStart, plan, [] {});
  {
    const auto node = Node::Open(dir_, setting_, [](TickName, Node::TickEvent) {});
    if (!node.ok()) throw Mismatch{"the store does not open before a power loss: " + std::string(node.status().text())};
    if (setting_.replicas > 0) RequireUnlessFailed((*node)->StartStream(), "the stream");
  }
  if (!disk->has_crashed()) disk->CrashAfter(0, plan, [] {});
  MoveOn();
  ++totals_.starts;
}

// Everything that cairn-check checks.
void Simulation::CheckRows(const std::string& dir) {
  const auto disk = std::exchange(seams.disk, nullptr);
  const auto database = OfflineDatabase::Open(dir);
  seams.disk = disk;
  if (!database.ok()) {
    if (!std::filesystem::exists(dir + "/CURRENT")) return;  // it was being created
    throw Mismatch{"cairn-check cannot open the data: " + std::string(database.status().text())};
  }
  Findings findings(10);
  for (const DamagedTable& table : (*database)->CheckTables([](uint64_t) {})) {
    findings.Damage("damaged tables", table.sentence);
  }
  RowCheck(**database, findings, [](uint64_t) {}).Run();
  if (findings.Summarize() != 0) throw Mismatch{"cairn-check finds damage"};
}

void Simulation::NoticeFault() {
  if (disk_->failed_steps() == failed_before_) return;
  RecoverFromFault();
  failed_before_ = disk_->failed_steps();
}

void Simulation::RecoverFromFault() {
  disk_->EndFaults();
  node_->RetrySkipped();
  if (node_->AwaitRecovery()) return;
  Crash(0, disk_->steps());
  Recover();
}

// Another thread leaves the rest to the simulation's thread, unless that one does not come: it may be waiting for it.
void Simulation::OnEnd(std::string_view why) {
  if (std::this_thread::get_id() == thread_) return End(why);
  end_why_ = why;
  end_ = EndState::kAsked;
  for (int i = 0; i < kMostEndWaits && end_ == EndState::kAsked; ++i) usleep(kEndWaitUs);
  if (auto asked = EndState::kAsked; end_.compare_exchange_strong(asked, EndState::kTaken)) End(why);
  StandStill();
}

void Simulation::TakeEnd() {
  if (auto asked = EndState::kAsked; end_.compare_exchange_strong(asked, EndState::kTaken)) End(end_why_);
}

// Cairn ends its process. The commits that were running may be there or not.
void Simulation::End(std::string_view why) {
  int status = 0;
  seams.on_end = [thread = std::this_thread::get_id()](std::string_view again) {
    if (std::this_thread::get_id() != thread) StandStill();  // the thread belongs to the process that has ended
    std::printf("Cairn ended its process again: %.*s\n", static_cast<int>(again.size()), again.data());
    std::fflush(stdout);
    _exit(1);
  };
  seams.lost_threads = kLostThreads;
  try {
    if (disk_->failed_steps() != failed_before_) {
      EndNode();
    } else if (!EndReplica()) {
      throw Mismatch{"no step of a disk has failed"};
    }
    ++totals_.ends;
    std::printf("%s\n", ToText(totals()).c_str());
  } catch (const Mismatch& mismatch) {
    std::printf("after Cairn ended its process (%.*s): %s\n", static_cast<int>(why.size()), why.data(),
                mismatch.text.c_str());
    status = 1;
  }
  std::fflush(stdout);
  _exit(status);
}

void Simulation::EndNode() {
  if (!disk_->has_crashed()) {
    disk_->CrashAfter(0, {FolderOf(folder_, lives_ + 1), Loss::kEverything, 0}, [this] { crash_history_ = history_; });
  }
  for (const TickName& tick : node_->committing()) {
    crash_history_->Commit((tick.handed_over ? handed_ : open_)[tick.worker]);
  }
  static_cast<void>(node_.release());
  const std::shared_ptr<Disk> old = disk_;
  OpenAfterCrash();
}

}  // namespace cairn::simulation
