// SPDX-License-Identifier: BSD-3-Clause
//
// LuaVm: a Lua state with the sandbox, redis.* and what it has compiled. One run at a time; `Scripting` keeps as many
// of them as there are runs side by side.
//
// What scripts, functions and libraries see is in script/lua_globals.h. What a run may use, and how it is stopped, is
// in lua_vm_limits.cc.
//
// Thread: whoever has borrowed it; bytes() any.
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

  // The one a function that Lua calls belongs to.
  static LuaVm& Of(lua_State* L);

  // ---- scripts
  const CompiledScripts& compiled() const { return compiled_; }
  // The error is the client's reply.
  Status Compile(std::shared_ptr<const Script> script);
  // The script's reply, or why it was stopped. REQUIRES: compiled here.
  Status RunScript(ScriptRun& run, const Script& script, std::span<const std::string_view> keys,
                   std::span<const std::string_view> args, Reply& reply);

  // ---- functions
  // Runs a library's code, which names its functions, and forgets libraries that are not `known`. The error is the
  // client's reply. `timeout_ms` 0: none.
  Status LoadLibrary(Library& library, const Libraries& known, int64_t timeout_ms);
  Status RunFunction(ScriptRun& run, const Library& library, const Function& function,
                     std::span<const std::string_view> keys, std::span<const std::string_view> args, Reply& reply);

  // ---- of the functions that Lua calls
  ScriptRun* run() { return run_; }
  // An error is on its way that ends the run, past all that catches errors.
  bool is_ending() const { return has_timed_out_ || (run_ != nullptr && !run_->stop.ok()); }
  // Raises that error.
  static int RaiseEnd(lua_State* L);
  // Work that neither instructions nor allocations tell of, in steps; raises the error when the run may not go on.
  void Charge(lua_State* L, uint64_t steps);
  // Looks whether the run may go on, and raises no error: for those who cannot have one.
  void Look(uint64_t steps);
  // An error when coroutines resume one another too deeply.
  void CheckStack(lua_State* L) const;
  // Leaves the compiled code, or a message and answers false; is_ending() then tells whether it was stopped.
  bool LoadCode(lua_State* L, std::string_view code, const char* name);
  // While there is one, no allocation fails: for a function that holds what has a destructor.
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
  // The script has changed how garbage is collected, which the next one is not to see.
  void NoteCollectorChanged() { collector_changed_ = true; }
  // redis.register_function, with the callback on the top of L's stack, which is popped. The error is without a code.
  Status Register(lua_State* L, Function function);
  bool is_loading() const { return loaded_ != nullptr; }
  std::vector<std::string_view>& arguments() { return arguments_; }  // scratch of redis.call
  std::string& reply_buffer() { return reply_buffer_; }
  JsonSettings& json_settings() { return json_settings_; }
  int32_t NextRandom();
  void SeedRandom(int32_t seed);

  // ---- of Scripting
  uint64_t generation() const { return generation_; }
  // It holds so much that a new one is the better one to keep.
  bool is_worn_out() const { return is_worn_out_; }
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct LoadedLibrary {
    uint64_t id = 0;
    std::unordered_map<std::string, int> functions;  // references, by name
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
  bool LoadCodeInTime(std::string_view code, const char* name);
  Status RunLibrary(const Library& library, int64_t timeout_ms);
  void Forget(const LoadedLibrary& library);
  void ForgetAllBut(const Libraries& known);
  Status Call(ScriptRun& run, int function, std::span<const std::string_view> keys,
              std::span<const std::string_view> args, Reply& reply);
  void ReplyError(const ScriptRun& run, std::string_view instead, Reply& reply);

  const uint64_t generation_;
  ScriptMemoryShare memory_;
  std::atomic<size_t> bytes_{0};
  bool is_limited_ = false;  // within a protected call, where an allocation may fail
  size_t grown_ = 0;         // bytes since the last look
  uint64_t charged_ = 0;     // steps since the last look
  size_t collect_at_ = 0;    // bytes
  size_t kept_bytes_ = 0;    // what the last full collection left
  bool collector_changed_ = false;
  bool is_worn_out_ = false;
  bool has_timed_out_ = false;
  const char* stack_base_ = nullptr;
  ScriptRun* run_ = nullptr;
  Library* loading_ = nullptr;
  LoadedLibrary* loaded_ = nullptr;  // of `loading_`
  int64_t deadline_us_ = 0;          // of what is not a run; 0: none
  uint64_t random_ = 0;
  uint32_t runs_since_collection_ = 0;
  std::vector<std::string_view> arguments_;
  std::string reply_buffer_;
  JsonSettings json_settings_;  // a run's
  lua_State* const state_;      // made after all that Allocate uses
  const LuaGlobals globals_;
  CompiledScripts compiled_;
  std::unordered_map<std::string, LoadedLibrary> libraries_;  // by name; `id` says which one of this name
};

}  // namespace cairn
