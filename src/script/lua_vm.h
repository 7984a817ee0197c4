// SPDX-License-Identifier: BSD-3-Clause
//
// LuaVm: a Lua state with the sandbox, redis.* and its compiled code. It executes one run at a time; `Scripting` keeps
// as many of them as there are concurrent runs.
//
// script/lua_globals.h has the globals of scripts, functions and libraries; lua_vm_limits.cc has the limits of a run
// and how it is stopped.
//
// Thread: the one that has borrowed it; bytes() any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "resp/reply.h"
#include "script/compiled_scripts.h"
#include "script/lib_json.h"
#include "script/libraries.h"
#include "script/lua_globals.h"
#include "script/script_cache.h"
#include "script/script_memory.h"
#include "script/script_run.h"

struct lua_State;
struct lua_Debug;

namespace cairn {

class LuaVm {
 public:
  LuaVm(uint64_t generation, uint64_t seed, ScriptMemory& memory);
  ~LuaVm();
  LuaVm(const LuaVm&) = delete;
  LuaVm& operator=(const LuaVm&) = delete;

  // The LuaVm that owns this state.
  static LuaVm& Of(lua_State* L);

  // ---- scripts
  const CompiledScripts& compiled() const { return compiled_; }
  // The error is the client's reply.
  Status Compile(std::shared_ptr<const Script> script);
  // Replies with the script's result, or with the reason why it was stopped. REQUIRES: compiled here.
  Status RunScript(ScriptRun& run, const Script& script, std::span<const std::string_view> keys,
                   std::span<const std::string_view> args, Reply& reply);

  // ---- functions
  // Runs a library's code, which registers its functions, and drops libraries that are not in `known`. The error is the
  // client's reply. `is_bounded`: it has a time limit and a memory limit.
  Status LoadLibrary(Library& library, const Libraries& known, bool is_bounded);
  Status RunFunction(ScriptRun& run, const Library& library, const Function& function,
                     std::span<const std::string_view> keys, std::span<const std::string_view> args, Reply& reply);

  // ---- for the functions that Lua calls
  ScriptRun* run() { return run_; }
  // An error that ends the run is being raised; it passes all error handlers.
  bool is_ending() const { return has_timed_out_ || (run_ != nullptr && !run_->stop.ok()); }
  // Raises that error.
  static int RaiseEnd(lua_State* L);
  // Charges work that is visible neither as instructions nor as allocations, in steps. Raises that error if the run
  // must end.
  void Charge(lua_State* L, uint64_t steps);
  // Checks whether the run must end, without raising an error: for callers that must not be interrupted.
  void Look(uint64_t steps);
  // Raises an error if coroutines resume one another too deeply.
  void CheckStack(lua_State* L) const;
  // Pushes the compiled code, or pushes a message and returns false; is_ending() then tells whether it was stopped.
  bool LoadCode(lua_State* L, std::string_view code, const char* name);
  // While one exists, no allocation fails: for a function that holds objects with a destructor.
  class NoLimit {
   public:
    explicit NoLimit(LuaVm& vm) : vm_(vm), was_limited_(std::exchange(vm.is_limited_, false)) {}
    ~NoLimit() { vm_.is_limited_ = was_limited_; }
    NoLimit(const NoLimit&) = delete;
    NoLimit& operator=(const NoLimit&) = delete;

   private:
    LuaVm& vm_;
    const bool was_limited_;
  };
  // The script has changed the garbage collector's settings, which must be reset before the next one.
  void NoteCollectorChanged() { collector_.has_changed = true; }
  // redis.register_function. Pops the callback from the top of L's stack. The error has no code.
  Status Register(lua_State* L, Function function);
  bool is_loading() const { return loaded_ != nullptr; }
  std::vector<std::string_view>& arguments() { return arguments_; }  // scratch for redis.call
  std::string& reply_buffer() { return reply_buffer_; }
  JsonSettings& json_settings() { return json_settings_; }
  int32_t NextRandom();
  void SeedRandom(int32_t seed);

  // ---- for Scripting
  uint64_t generation() const { return generation_; }
  // Releases scripts that are no longer in the cache. No run may use the state.
  void ForgetEvicted() { compiled_.ForgetEvicted(); }
  // It holds so much memory that a new one should replace it.
  bool is_worn_out() const { return is_worn_out_; }
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr const char* kLoadTimeout = "FUNCTION LOAD timeout";

  // The state of Lua's garbage collector.
  struct Collector {
    size_t collect_at = 0;     // bytes
    size_t kept_bytes = 0;     // after the last full collection
    bool has_changed = false;  // by a script
  };

  struct LoadedLibrary {
    uint64_t id = 0;
    size_t bytes = 0;                                // of names and descriptions, which Lua's limit does not count
    std::unordered_map<std::string, int> functions;  // registry references by name
  };

  static void* Allocate(void* vm, void* block, size_t old_size, size_t new_size);
  static void OnSteps(lua_State* L, lua_Debug*);
  static int OnError(lua_State* L);
  bool MayGrow(size_t more);
  void BeginLimits();
  void EndLimits();
  void SetHook();
  void Step(lua_State* L, uint64_t steps);
  void BeginRun(ScriptRun& run);
  void EndRun(ScriptRun& run);
  bool LoadCodeInTime(std::string_view code, const char* name, bool has_time_limit);
  Status RunLibrary(const Library& library, int64_t timeout_ms);
  void Forget(const LoadedLibrary& library);
  void ForgetAllBut(const Libraries& known);
  Status Call(ScriptRun& run, int function, std::span<const std::string_view> keys,
              std::span<const std::string_view> args, Reply& reply);
  void ReplyError(const ScriptRun& run, std::string_view instead, Reply& reply);

  const uint64_t generation_;
  ScriptMemoryShare memory_;
  std::atomic<size_t> bytes_{0};
  bool is_limited_ = false;  // inside a protected call, where an allocation may fail
  bool is_bounded_ = true;   // false while a library is loaded that has no limits
  size_t grown_ = 0;         // bytes since the last check
  uint64_t charged_ = 0;     // steps since the last check
  Collector collector_;
  bool is_worn_out_ = false;
  bool has_timed_out_ = false;
  const char* stack_base_ = nullptr;
  ScriptRun* run_ = nullptr;
  Library* loading_ = nullptr;
  LoadedLibrary* loaded_ = nullptr;  // the entry of `loading_`
  int64_t deadline_us_ = 0;          // while no run is active; 0: none
  uint64_t random_ = 0;
  uint32_t runs_since_collection_ = 0;
  std::vector<std::string_view> arguments_;
  std::string reply_buffer_;
  JsonSettings json_settings_;  // of the current run
  lua_State* const state_;      // after all members that Allocate uses
  const LuaGlobals globals_;
  CompiledScripts compiled_;
  std::unordered_map<std::string, LoadedLibrary> libraries_;  // by name; `id` tells versions of a library apart
};

}  // namespace cairn
