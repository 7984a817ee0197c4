// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/unserved_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "base/thread.h"
#include "base/words.h"
#include "cluster/slot_keys.h"
#include "storage/format.h"
#include "storage/store.h"
#include "storage/transaction.h"
#include "topology/nodes_conf.h"
#include "topology/slot_routes.h"

namespace cairn {
namespace {

constexpr std::chrono::seconds kPause{1};  // before a failed deletion is tried again

Status Damaged() { return Status::Corruption("meta row cluster/unserved: not a list of slots"); }

std::string Encode(const std::map<std::string, SlotSet>& slots) {
  std::string text;
  for (const auto& [name, set] : slots) {
    text += name;
    for (const SlotRange& range : set.Ranges()) text += fmt::format(" {}-{}", range.first, range.last);
    text += '\n';
  }
  return text;
}

Result<SlotRange> DecodeRange(std::string_view word) {
  const size_t dash = word.find('-');
  if (dash == std::string_view::npos) return Damaged();
  const auto first = ParseInt64(word.substr(0, dash));
  const auto last = ParseInt64(word.substr(dash + 1));
  if (!first || !last || !IsSlot(*first) || !IsSlot(*last) || *first > *last) return Damaged();
  return SlotRange{static_cast<int>(*first), static_cast<int>(*last)};
}

Result<std::map<std::string, SlotSet>> Decode(std::string_view text) {
  std::map<std::string, SlotSet> slots;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return Damaged();
    const auto words = SplitWords(text.substr(0, end));
    if (!words || words->empty()) return Damaged();
    SlotSet& set = slots[words->front()];
    for (size_t i = 1; i < words->size(); ++i) {
      const SlotRange range = TRY(DecodeRange((*words)[i]));
      for (int slot = range.first; slot <= range.last; ++slot) set.Add(slot);
    }
    text.remove_prefix(end + 1);
  }
  return slots;
}

}  // namespace

UnservedSlots::UnservedSlots(Store& store, const Notifier& notifier, Host host)
    : store_(store), host_(std::move(host)), drops_(store, notifier) {}

Status UnservedSlots::Load() {
  const MutexLock lock(mutex_);
  slots_ = TRY(Decode(TRY(store_.ReadNote(kUnservedRow))));
  RefreshLocked();
  return Ok();
}

void UnservedSlots::Start(const std::function<void()>& first) {
  thread_ = StartThread("slot-drop", [this, first] {
    LowerPriority();
    if (first) first();
    Run();
  });
}

void UnservedSlots::Stop() {
  {
    const MutexLock lock(jobs_mutex_);
    stopping_ = true;
    jobs_changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

Status UnservedSlots::Write(const std::string& row, std::span<const std::string_view> replicated) {
  const auto txn = std::make_unique<Transaction>(store_);
  txn->BeginCommand(Lane::kSlow, WallMs(), false);
  txn->on_commit().PutNote(kUnservedRow, row);
  ReplicatedCommands& commands = txn->replicated_commands();
  if (!replicated.empty() && commands.interest() & kInterestInReplication) commands.Add(0, replicated);
  TRY(txn->FinishCommand());
  return txn->Commit(CommitMode::kWait);
}

Status UnservedSlots::Hide(const std::string& name, const SlotSet& slots, bool replicates) {
  std::vector<std::string> words = {"CLUSTER", "SYNCSLOTS", "HIDE", name};
  for (const SlotRange& range : slots.Ranges()) {
    words.push_back(std::to_string(range.first));
    words.push_back(std::to_string(range.last));
  }
  if (!replicates) words.clear();
  const MutexLock changing(change_mutex_);
  std::map<std::string, SlotSet> before;
  std::string row;
  {
    const MutexLock lock(mutex_);
    before = slots_;
    slots_[name] = slots;
    RefreshLocked();
    row = Encode(slots_);
  }
  Status written = Write(row, std::vector<std::string_view>(words.begin(), words.end()));
  if (written.ok()) return written;
  // A name that stays would keep the keys of these slots from being deleted under other names.
  const MutexLock lock(mutex_);
  slots_ = std::move(before);
  RefreshLocked();
  return written;
}

Status UnservedSlots::Show(const std::string& name, bool replicates) {
  const std::string_view words[] = {"CLUSTER", "SYNCSLOTS", "SHOW", name};
  const MutexLock changing(change_mutex_);
  std::string row;
  {
    const MutexLock lock(mutex_);
    if (slots_.erase(name) == 0) return Ok();
    RefreshLocked();
    row = Encode(slots_);
  }
  return Write(row, replicates ? std::span<const std::string_view>(words) : std::span<const std::string_view>());
}

void UnservedSlots::Drop(const std::string& name, std::function<void()> done) {
  const MutexLock lock(jobs_mutex_);
  jobs_.push_back({name, std::move(done)});
  jobs_changed_.NotifyAll();
}

std::vector<std::string> UnservedSlots::Names() {
  std::vector<std::string> names;
  const MutexLock lock(mutex_);
  for (const auto& [name, set] : slots_) names.push_back(name);
  return names;
}

void UnservedSlots::DropEach(const std::vector<std::string>& names) {
  for (const std::string& name : names) Drop(name, nullptr);
}

void UnservedSlots::Refresh() {
  const MutexLock lock(mutex_);
  RefreshLocked();
}

void UnservedSlots::RefreshLocked() {
  if (slots_.empty() && !store_.staging().hidden_slots().any()) return;
  const bool shows = store_.staging().hidden_slots().Set([this](int slot) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (const auto& [name, set] : slots_) {
      if (set.Has(slot)) return !host_.is_served(slot);
    }
    return false;
  });
  if (!shows) return;
  // Keys may have expired while they were hidden.
  for (const StorageMode mode : {StorageMode::kSsd, StorageMode::kMemory}) store_.expiry_start(mode).Note(0);
}

// ---- the thread "slot-drop"

bool UnservedSlots::Next(Job& job) {
  const MutexLock lock(jobs_mutex_);
  while (jobs_.empty() && !stopping_) jobs_changed_.Wait(jobs_mutex_);
  if (stopping_) return false;
  job = std::move(jobs_.front());
  jobs_.pop_front();
  return true;
}

void UnservedSlots::Run() {
  Job job;
  while (Next(job)) {
    const Status status = Carry(job);
    if (status.ok()) {
      if (job.done) job.done();
      continue;
    }
    Log(LogSeverity::kWarning, "cluster: keys of slots that another node serves are not deleted yet: {}",
        status.text());
    const MutexLock lock(jobs_mutex_);
    jobs_.push_back(std::move(job));
    if (!stopping_) jobs_changed_.WaitFor(jobs_mutex_, kPause);
  }
}

Status UnservedSlots::Carry(const Job& job) {
  SlotSet slots;
  {
    const MutexLock lock(mutex_);
    const auto found = slots_.find(job.name);
    if (found == slots_.end()) return Ok();
    slots = found->second;
  }
  const auto is_dropped = [&](int slot) { return !IsHiddenByAnother(slot, job.name); };
  if (!TRY(DropSlots(slots, is_dropped))) return Ok();
  return Show(job.name, true);
}

bool UnservedSlots::IsHiddenByAnother(int slot, const std::string& name) {
  const MutexLock lock(mutex_);
  return std::ranges::any_of(slots_, [&](const auto& each) { return each.first != name && each.second.Has(slot); });
}

Result<bool> UnservedSlots::DropNow(const SlotSet& slots) {
  return DropSlots(slots, [](int) { return true; });
}

Result<bool> UnservedSlots::DropSlots(const SlotSet& slots, const std::function<bool(int slot)>& is_dropped) {
  TRY(host_.settle());
  bool has_ended = false;
  for (const SlotRange& range : slots.Ranges()) {
    for (int slot = range.first; slot <= range.last; ++slot) {
      const auto may_drop = [&] {
        // A replica's keys are those of its master.
        has_ended = has_ended || stopping_ || !host_.is_master();
        return !has_ended && store_.staging().hidden_slots().Has(slot) && is_dropped(slot);
      };
      for (bool has_more = may_drop(); has_more;) {
        const MutexLock dropping(deletion_mutex_);
        has_more = TRY(drops_.DropSome(slot, drop_mutex_, may_drop));
      }
      if (has_ended) return false;
    }
  }
  return true;
}

Result<SlotSet> ReadUnservedSlots(const Store& store, const std::filesystem::path& nodes_conf) {
  SlotSet unserved;
  const std::map<std::string, SlotSet> slots = TRY(Decode(TRY(store.ReadNote(kUnservedRow))));
  if (slots.empty()) return unserved;
  const std::optional<Topology> topology = TRY(LoadNodesConf(nodes_conf));
  if (!topology) return unserved;
  SlotRoutes routes;
  routes.Publish(*topology, ClusterState::kOk, EndpointType::kIp);
  for (const auto& [name, set] : slots) {
    for (int slot = 0; slot < kSlotCount; ++slot) {
      if (set.Has(slot) && !routes.HasKeysOf(slot)) unserved.Add(slot);
    }
  }
  return unserved;
}

}  // namespace cairn
