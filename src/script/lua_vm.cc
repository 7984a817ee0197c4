// SPDX-License-Identifier: BSD-3-Clause
#include "script/lua_vm.h"

#include <algorithm>

#include "base/assert.h"
#include "base/clock.h"
#include "script/flags.h"
#include "script/lua_state.h"
#include "script/reply_from_lua.h"
#include "script/scripting.h"

namespace cairn {
namespace {

constexpr uint32_t kRunsPerCollection = 50;
constexpr int64_t kLoadTimeoutMs = 500;

lua_State* NewState(lua_Alloc allocate, LuaVm* vm) {
  lua_State* const state = lua_newstate(allocate, vm);
  ASSERT(state != nullptr, "a Lua state can be made");
  return state;
}

}  // namespace

void PushErrorTable(lua_State* L, std::string_view text) {
  lua_createtable(L, 0, 3);
  PushText(L, text);
  lua_setfield(L, -2, "err");
}

int RaiseError(lua_State* L, const char* text) {
  lua_createtable(L, 0, 3);
  lua_pushfstring(L, "ERR %s", text);
  lua_setfield(L, -2, "err");
  return lua_error(L);
}

// ---- the state

LuaVm::LuaVm(uint64_t generation, uint64_t seed, ScriptMemory& memory)
    : generation_(generation), memory_(memory), state_(NewState(&Allocate, this)), globals_(state_), compiled_(state_) {
  SeedRandom(static_cast<int32_t>(seed));
  collector_.kept_bytes = bytes();
}

LuaVm::~LuaVm() { lua_close(state_); }

LuaVm& LuaVm::Of(lua_State* L) {
  void* vm = nullptr;
  lua_getallocf(L, &vm);
  return *static_cast<LuaVm*>(vm);
}

// Like lrand48.
int32_t LuaVm::NextRandom() {
  constexpr uint64_t kMultiplier = 0x5deece66d;
  constexpr uint64_t kIncrement = 0xb;
  random_ = (random_ * kMultiplier + kIncrement) & ((1ull << 48) - 1);
  return static_cast<int32_t>(random_ >> 17);
}

void LuaVm::SeedRandom(int32_t seed) {
  constexpr uint64_t kLowBits = 0x330e;
  random_ = (static_cast<uint64_t>(static_cast<uint32_t>(seed)) << 16) | kLowBits;
}

// ---- scripts

Status LuaVm::Compile(std::shared_ptr<const Script> script) {
  if (compiled_.FindSha(script->sha) != nullptr) return Ok();
  compiled_.Forget(*script);
  lua_State* L = state_;
  globals_.UseForScripts();
  if (!LoadCodeInTime(script->code(), "@user_script", true)) {
    std::string error(TextAt(L, -1));
    lua_pop(L, 1);
    return Status::Reply("ERR Error compiling script (new function): " + error);
  }
  compiled_.Add(std::move(script), luaL_ref(L, LUA_REGISTRYINDEX));
  return Ok();
}

Status LuaVm::RunScript(ScriptRun& run, const Script& script, std::span<const std::string_view> keys,
                        std::span<const std::string_view> args, Reply& reply) {
  globals_.UseForScripts();
  script.used_us.store(MonotonicUs(), std::memory_order_relaxed);
  return Call(run, compiled_.FunctionOf(script), keys, args, reply);
}

// ---- running

namespace {

void PushArray(lua_State* L, std::span<const std::string_view> texts) {
  lua_createtable(L, static_cast<int>(texts.size()), 0);
  int index = 0;
  for (const std::string_view text : texts) {
    PushText(L, text);
    lua_rawseti(L, -2, ++index);
  }
}

}  // namespace

void LuaVm::BeginRun(ScriptRun& run) {
  run_ = &run;
  run.started_us = MonotonicUs();
}

void LuaVm::EndRun(ScriptRun& run) {
  run_ = nullptr;
  json_settings_ = {};
  constexpr size_t kKeptReplyBytes = 64 * 1024;
  if (reply_buffer_.capacity() > kKeptReplyBytes) std::string().swap(reply_buffer_);
  run.scripting.EndBusy(run);
}

Status LuaVm::Call(ScriptRun& run, int function, std::span<const std::string_view> keys,
                   std::span<const std::string_view> args, Reply& reply) {
  lua_State* L = state_;
  BeginRun(run);
  lua_settop(L, 0);
  lua_pushcfunction(L, OnError);
  int passed = 0;
  if (run.is_function) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, function);
    PushArray(L, keys);
    PushArray(L, args);
    passed = 2;
  } else {
    globals_.PushScriptTable();
    PushArray(L, keys);
    lua_setfield(L, -2, "KEYS");
    PushArray(L, args);
    lua_setfield(L, -2, "ARGV");
    lua_pop(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, function);
  }
  SetHook();
  BeginLimits();
  const int failed = lua_pcall(L, passed, 1, 1);
  lua_sethook(L, nullptr, 0, 0);
  is_limited_ = false;
  const size_t most_bytes = memory_.limit();
  if (run.stop.ok() && failed != 0) ReplyError(run, {}, reply);
  if (run.stop.ok() && failed == 0) ReplyFromLua(L, *this, most_bytes, reply);
  EndRun(run);
  Status status = std::move(run.stop);
  if (status.Is(Code::kReply)) {
    ReplyError(run, status.text(), reply);
    status = Ok();
  }
  lua_settop(L, 0);
  EndLimits();
  if (++runs_since_collection_ % kRunsPerCollection == 0) lua_gc(L, LUA_GCSTEP, kRunsPerCollection);
  return status;
}

// Replies with the error, a table that OnError made. `instead`, if not empty, replaces its text.
void LuaVm::ReplyError(const ScriptRun& run, std::string_view instead, Reply& reply) {
  lua_State* L = state_;
  std::string text;
  if (!lua_istable(L, -1)) {
    const std::string_view why = instead.empty() ? TextAt(L, -1) : instead;
    if (instead.empty()) text = "ERR ";
    text.append(why).append(" script: ").append(run.name);
    reply.Error(text);
    return;
  }
  const int error = lua_gettop(L);
  text = instead.empty() ? FieldText(L, error, "err") : std::string(instead);
  if (text.empty()) text = "ERR unknown error";
  const std::string source = FieldText(L, error, "source");
  const std::string line = FieldText(L, error, "line");
  if (!source.empty() && !line.empty()) {
    text.append(" script: ").append(run.name).append(", on ").append(source).append(":").append(line).append(".");
  }
  reply.Error(text);
}

// Makes an error a table that says where it was raised; for a C function, where that was called.
int LuaVm::OnError(lua_State* L) {
  if (!lua_istable(L, 1)) {
    if (!lua_isstring(L, 1)) {
      lua_getglobal(L, "tostring");
      lua_pushvalue(L, 1);
      lua_call(L, 1, 1);
      lua_replace(L, 1);
    }
    lua_createtable(L, 0, 3);
    lua_pushfstring(L, "ERR %s", lua_tostring(L, 1));
    lua_setfield(L, -2, "err");
    lua_replace(L, 1);
  }
  lua_Debug place;
  bool known = lua_getstack(L, 1, &place) && lua_getinfo(L, "Sl", &place);
  if (known && place.what[0] == 'C') known = lua_getstack(L, 2, &place) && lua_getinfo(L, "Sl", &place);
  if (known) {
    lua_pushstring(L, place.source);
    lua_setfield(L, 1, "source");
    lua_pushinteger(L, place.currentline);
    lua_setfield(L, 1, "line");
  }
  lua_settop(L, 1);
  return 1;
}

// ---- functions

Status LuaVm::LoadLibrary(Library& library, const Libraries& known, bool is_bounded) {
  ForgetAllBut(known);
  loading_ = &library;
  is_bounded_ = is_bounded;
  const Status status = RunLibrary(library, is_bounded ? kLoadTimeoutMs : 0);
  is_bounded_ = true;
  loading_ = nullptr;
  if (status.ok()) return Ok();
  return Status::Reply(status.text());
}

Status LuaVm::Register(lua_State* L, Function function) {
  if (!IsFunctionName(function.name)) return Status::Reply(kBadFunctionName);
  if (loaded_->functions.contains(function.name)) return Status::Reply("Function already exists in the library");
  loaded_->bytes += function.bytes();
  if (is_bounded_ && loaded_->bytes > memory_.limit()) {
    return Status::Reply("The library's functions exceed the memory limit");
  }
  loaded_->functions.emplace(function.name, luaL_ref(L, LUA_REGISTRYINDEX));
  if (loading_ != nullptr) loading_->functions.push_back(std::move(function));
  return Ok();
}

void LuaVm::Forget(const LoadedLibrary& library) {
  for (const auto& [name, reference] : library.functions) luaL_unref(state_, LUA_REGISTRYINDEX, reference);
}

void LuaVm::ForgetAllBut(const Libraries& known) {
  std::erase_if(libraries_, [this, &known](const auto& entry) {
    const auto* library = known.Find(entry.first);
    if (library != nullptr && (*library)->id == entry.second.id) return false;
    Forget(entry.second);
    return true;
  });
}

// Compiles the library and runs it, so that it registers its functions in this state.
Status LuaVm::RunLibrary(const Library& library, int64_t timeout_ms) {
  lua_State* L = state_;
  lua_settop(L, 0);
  globals_.UseForFunctions();
  const std::string_view code = std::string_view(library.code).substr(library.head_size);
  if (!LoadCodeInTime(code, "@user_function", timeout_ms != 0)) {
    std::string error(TextAt(L, -1));
    lua_settop(L, 0);
    return Status::Reply("ERR Error compiling function: " + error);
  }
  LoadedLibrary loaded;
  loaded_ = &loaded;
  deadline_us_ = timeout_ms == 0 ? 0 : MonotonicUs() + timeout_ms * 1000;
  globals_.ShowLoading();
  SetHook();
  BeginLimits();
  const int failed = lua_pcall(L, 0, 0, 0);
  lua_sethook(L, nullptr, 0, 0);
  const bool has_timed_out = has_timed_out_;
  EndLimits();
  deadline_us_ = 0;
  globals_.ShowFunctions();
  loaded_ = nullptr;
  std::string error;
  if (failed != 0 && has_timed_out) {  // Lua may say "not enough memory": the allocator notices the end too
    error = std::string("ERR ") + kLoadTimeout;
  } else if (failed != 0) {
    error = lua_istable(L, 1) ? FieldText(L, 1, "err") : "ERR " + std::string(TextAt(L, 1));
  }
  lua_settop(L, 0);
  if (failed != 0) {
    Forget(loaded);
    return Status::Reply("ERR Error registering functions: " + error);
  }
  loaded.id = library.id;
  LoadedLibrary& place = libraries_[library.name];
  Forget(place);
  place = std::move(loaded);
  return Ok();
}

Status LuaVm::RunFunction(ScriptRun& run, const Library& library, const Function& function,
                          std::span<const std::string_view> keys, std::span<const std::string_view> args,
                          Reply& reply) {
  auto loaded = libraries_.find(library.name);
  if (loaded == libraries_.end() || loaded->second.id != library.id) {
    BeginRun(run);
    Status status = RunLibrary(library, 0);
    EndRun(run);
    if (!run.stop.ok()) return std::move(run.stop);
    TRY(std::move(status));
    loaded = libraries_.find(library.name);
  }
  const auto found = loaded->second.functions.find(function.name);
  if (found == loaded->second.functions.end()) return Status::Reply("ERR Function not found");
  globals_.UseForFunctions();
  return Call(run, found->second, keys, args, reply);
}

}  // namespace cairn
