// SPDX-License-Identifier: BSD-3-Clause
//
// Scripting: the state shared by all runs: the cache of scripts, the libraries of functions, the Lua states, and the
// runs that take too long.
//
// Lua states. There are as many as there were concurrent runs. A run borrows the state that was returned last, whose
// memory is warm. SCRIPT FLUSH replaces each state at its next use. A run that lacks memory destroys states that no run
// uses, the least recently used first.
//
// Long runs. On the fast lane a run has a budget of Lua steps and of rows; beyond it the run starts over on the slow
// lane. There it has no limit. After `busy-reply-threshold` milliseconds all clients get BUSY, and SCRIPT KILL or
// FUNCTION KILL ends the run. If it has called a write command, only SHUTDOWN NOSAVE does.
//
// Thread: any; each part is guarded by its own mutex, which is a leaf.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "command/busy_scripts.h"
#include "command/conditions.h"
#include "command/slot_gate.h"
#include "script/libraries.h"
#include "script/lua_vm.h"
#include "script/script_cache.h"
#include "script/script_run.h"

namespace cairn {

class Store;

class Scripting {
 public:
  // `busy_after_ms`: busy-reply-threshold, 0: never. `shows_calls`: some client MONITORs. `most_bytes`: for all Lua
  // states.
  Scripting(const std::atomic<int64_t>& busy_after_ms, BusyScripts& busy, const Conditions& conditions,
            std::function<bool()> shows_calls, uint64_t most_bytes);
  ~Scripting();

  // Loads the libraries of the store. Called once, before commands run. The error is for the operator.
  Status Load(std::vector<std::string> codes);

  ScriptCache& cache() { return cache_; }
  const ScriptCache& cache() const { return cache_; }
  const Conditions& conditions() const { return conditions_; }
  // On a node of a cluster: the check of the slots of each call; null: no cluster. Set before commands run.
  const SlotGate* slot_gate() const { return slot_gate_; }
  void set_slot_gate(const SlotGate* gate) { slot_gate_ = gate; }
  bool shows_calls() const { return shows_calls_(); }
  // DEBUG SET-DISABLE-DENY-SCRIPTS: scripts may call commands that are not allowed from scripts.
  bool allows_any_command() const { return allows_any_command_.load(std::memory_order_relaxed); }
  void set_allows_any_command(bool on) { allows_any_command_.store(on, std::memory_order_relaxed); }

  // ---- libraries, as committed
  std::shared_ptr<const Libraries> libraries() const;
  void Adopt(std::shared_ptr<const Libraries> libraries);
  // The memory limit of all Lua states; also that of a command's reply to a script.
  uint64_t most_bytes() const { return memory_.limit(); }
  void SetMostBytes(uint64_t bytes);
  // The memory limit of all libraries.
  uint64_t most_library_bytes() const { return memory_.limit() / kLibrariesPart; }
  // Refuses libraries that exceed their memory limit. The error is the client's reply.
  Status CheckRoom(const Libraries& libraries) const;
  uint64_t NewLibraryId() { return next_library_.fetch_add(1); }

  // ---- Lua states
  class Lease {
   public:
    Lease(Scripting& owner, std::unique_ptr<LuaVm> vm) : owner_(owner), vm_(std::move(vm)) {}
    ~Lease() { owner_.GiveBack(std::move(vm_)); }
    LuaVm* operator->() { return vm_.get(); }
    LuaVm& operator*() { return *vm_; }

   private:
    Scripting& owner_;
    std::unique_ptr<LuaVm> vm_;
  };
  Lease Borrow();
  size_t vm_bytes() const;

  // ---- long runs
  // Called periodically by a run on the slow lane.
  void LookAfter(ScriptRun& run);
  // The run is about to execute its first write: from now on Kill refuses to end it. Fails if Kill has ended it before.
  Status BeginWrite(ScriptRun& run);
  // The run has ended.
  void EndBusy(ScriptRun& run);
  // SCRIPT KILL and FUNCTION KILL. The error is the client's reply.
  Status Kill(bool is_function);
  struct Busy {
    bool is_function = false;
    std::string name;
    std::vector<std::string> argv;
    int64_t running_ms = 0;
  };
  // Finds the run that has been busy for the longest time. Returns false if no run is busy.
  bool FindBusy(Busy& found) const;
  // Ends every run soon, even after writes: the server is stopping.
  void EndAll() { ending_.store(true); }

 private:
  struct BusyRun {
    const ScriptRun* run;
    Busy shown;
    int64_t started_us;
    bool has_written;
    bool is_killed = false;
  };

  void BeginBusy(ScriptRun& run);
  // REQUIRES: the run is busy.
  std::vector<BusyRun>::iterator FindRun(const ScriptRun& run) ABSL_EXCLUSIVE_LOCKS_REQUIRED(runs_mutex_);
  void GiveBack(std::unique_ptr<LuaVm> vm);
  // Destroys the state that was not used for the longest time. Returns false if runs use all states.
  bool DestroyIdle();

  const std::atomic<int64_t>& busy_after_ms_;
  BusyScripts& busy_;
  const Conditions& conditions_;
  const SlotGate* slot_gate_ = nullptr;
  const std::function<bool()> shows_calls_;
  std::atomic<bool> allows_any_command_{false};
  std::atomic<bool> ending_{false};
  std::atomic<uint64_t> next_library_{1};
  ScriptCache cache_;
  ScriptMemory memory_;

  mutable Mutex libraries_mutex_;
  std::shared_ptr<const Libraries> libraries_ ABSL_GUARDED_BY(libraries_mutex_);  // never null

  mutable Mutex vms_mutex_;
  std::vector<std::unique_ptr<LuaVm>> idle_ ABSL_GUARDED_BY(vms_mutex_);  // the most recently used is last
  std::vector<const LuaVm*> all_ ABSL_GUARDED_BY(vms_mutex_);

  mutable Mutex runs_mutex_;
  std::vector<BusyRun> runs_ ABSL_GUARDED_BY(runs_mutex_);  // busy runs, oldest first
};

}  // namespace cairn
