// SPDX-License-Identifier: BSD-3-Clause
//
// The limits of a run. All work of Lua passes one of three places, and each checks whether the run must end: the hook,
// after every kHookSteps instructions; the allocator, after every kBytesPerLook bytes; and ChargeWork, called by C
// functions whose work is neither instructions nor memory.
//
// On the fast lane a run that has used up its steps or its time starts over on the slow lane. There SCRIPT KILL or the
// shutdown of the server stops it. Either is an error that no handler of the script catches (LuaVm::is_ending).
#include <cstdlib>

#include "base/clock.h"
#include "script/lua_state.h"
#include "script/lua_vm.h"
#include "script/scripting.h"

namespace cairn {
namespace {

constexpr int kHookSteps = 500;
constexpr uint64_t kFastLaneSteps = 80000;
constexpr int64_t kFastLaneUs = 4000;
constexpr size_t kBytesPerLook = 256 << 10;
constexpr uint64_t kBytesPerStep = 16;
constexpr size_t kKeptGarbage = 4 << 20;     // a run may leave this much to the next run's collector
constexpr ptrdiff_t kMostStack = 512 << 10;  // coroutines may use this much of the thread's stack
constexpr int64_t kCompileUs = 5 * 1000 * 1000;
constexpr size_t kMostCodeBytes = 512 << 20;  // the lexer counts in ints
constexpr size_t kBytesPerRead = 1024;        // of code, between two checks

// Feeds the compiler in pieces, so that a long compilation can be stopped.
struct CodeReader {
  LuaVm& vm;
  std::string_view left;
};

const char* StackPlace() { return static_cast<const char*>(__builtin_frame_address(0)); }

const char* ReadCode(lua_State* L, void* data, size_t* size) {
  auto& reader = *static_cast<CodeReader*>(data);
  reader.vm.Look(kHookSteps);
  if (reader.vm.is_ending()) LuaVm::RaiseEnd(L);
  const std::string_view piece = reader.left.substr(0, kBytesPerRead);
  reader.left.remove_prefix(piece.size());
  *size = piece.size();
  return piece.empty() ? nullptr : piece.data();
}

// The reason for refusing the code without compiling it; null: none.
const char* RefuseCode(std::string_view code) {
  if (!code.empty() && code[0] == LUA_SIGNATURE[0]) return "byte code is not allowed";
  return code.size() > kMostCodeBytes ? "the code is too long" : nullptr;
}

}  // namespace

void ChargeWork(lua_State* L, uint64_t steps) { LuaVm::Of(L).Charge(L, steps); }

void* LuaVm::Allocate(void* state, void* block, size_t old_size, size_t new_size) {
  LuaVm& vm = *static_cast<LuaVm*>(state);
  const size_t bytes = vm.bytes();
  if (new_size == 0) {
    vm.bytes_.store(bytes - old_size, std::memory_order_relaxed);
    std::free(block);
    return nullptr;
  }
  if (new_size > old_size && !vm.MayGrow(new_size - old_size)) return nullptr;
  void* const grown = std::realloc(block, new_size);
  if (grown != nullptr) vm.bytes_.store(bytes + new_size - old_size, std::memory_order_relaxed);
  return grown;
}

bool LuaVm::MayGrow(size_t more) {
  // Outside protected calls an error has no handler, and unwinding a run must always be possible.
  if (!is_limited_ || is_ending()) return true;
  if (more > memory_.limit()) return false;
  grown_ += more;
  if (grown_ >= kBytesPerLook) {
    Look(grown_ / kBytesPerStep);
    grown_ = 0;
    if (is_ending()) return false;
  }
  return memory_.Cover(bytes() + more);
}

void LuaVm::BeginLimits() {
  memory_.Settle(bytes());
  stack_base_ = StackPlace();
  is_limited_ = is_bounded_;
  collector_.collect_at = is_bounded_ ? std::max<size_t>(memory_.limit() / 2, bytes() + kKeptGarbage) : SIZE_MAX;
}

void LuaVm::EndLimits() {
  is_limited_ = false;
  has_timed_out_ = false;
  if (bytes() > collector_.kept_bytes + kKeptGarbage) {
    lua_gc(state_, LUA_GCCOLLECT, 0);
    collector_.kept_bytes = bytes();
    is_worn_out_ = collector_.kept_bytes > memory_.limit() / 4;
  }
  if (collector_.has_changed) {
    constexpr int kAsMade = 200;
    lua_gc(state_, LUA_GCSETPAUSE, kAsMade);
    lua_gc(state_, LUA_GCSETSTEPMUL, kAsMade);
    lua_gc(state_, LUA_GCRESTART, 0);
    collector_.has_changed = false;
  }
  memory_.Settle(bytes());
}

void LuaVm::Charge(lua_State* L, uint64_t steps) {
  charged_ += steps;
  if (charged_ < kHookSteps) return;
  Step(L, std::exchange(charged_, 0));
}

void LuaVm::OnSteps(lua_State* L, lua_Debug*) { Of(L).Step(L, kHookSteps); }

void LuaVm::Step(lua_State* L, uint64_t steps) {
  Look(steps);
  if (is_ending()) RaiseEnd(L);
  if (bytes() <= collector_.collect_at) return;
  lua_gc(L, LUA_GCCOLLECT, 0);
  collector_.collect_at = std::max<size_t>(memory_.limit() / 2, (bytes() + memory_.limit()) / 2);
}

void LuaVm::Look(uint64_t steps) {
  if (run_ == nullptr) {
    if (deadline_us_ != 0 && MonotonicUs() > deadline_us_) has_timed_out_ = true;
    return;
  }
  ScriptRun& run = *run_;
  if (!run.stop.ok()) return;
  if (run.ctx.txn().command().lane() == Lane::kSlow) {
    run.scripting.LookAfter(run);
    return;
  }
  run.steps += steps;
  if (run.steps >= kFastLaneSteps || MonotonicUs() - run.started_us > kFastLaneUs) run.stop = Status::WouldWait();
}

void LuaVm::SetHook() { lua_sethook(state_, OnSteps, LUA_MASKCOUNT, kHookSteps); }

int LuaVm::RaiseEnd(lua_State* L) { return RaiseError(L, Of(L).has_timed_out_ ? kLoadTimeout : "the run has ended"); }

void LuaVm::CheckStack(lua_State* L) const {
  if (stack_base_ - StackPlace() > kMostStack) luaL_error(L, "C stack overflow");
}

bool LuaVm::LoadCode(lua_State* L, std::string_view code, const char* name) {
  if (const char* refusal = RefuseCode(code)) {
    lua_pushstring(L, refusal);
    return false;
  }
  CodeReader reader{*this, code};
  // Lua 5.1's compiler uses strings that the collector does not see.
  lua_gc(L, LUA_GCSTOP, 0);
  const int failed = lua_load(L, ReadCode, &reader, name);
  lua_gc(L, LUA_GCRESTART, 0);
  return failed == 0;
}

bool LuaVm::LoadCodeInTime(std::string_view code, const char* name, bool has_time_limit) {
  BeginLimits();
  deadline_us_ = has_time_limit ? MonotonicUs() + kCompileUs : 0;
  if (RefuseCode(code) != nullptr) is_limited_ = false;
  const bool loaded = LoadCode(state_, code, name);
  deadline_us_ = 0;
  if (has_timed_out_) {
    lua_pop(state_, 1);
    lua_pushliteral(state_, "it takes too long to compile");
  }
  EndLimits();
  return loaded;
}

}  // namespace cairn
