// SPDX-License-Identifier: BSD-3-Clause
#include "script/redis_api.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/log.h"
#include "base/number.h"
#include "base/version.h"
#include "command/access.h"
#include "script/flags.h"
#include "script/lua_vm.h"
#include "script/reply_to_lua.h"
#include "script/script_call.h"
#include "script/scripting.h"

namespace cairn {
namespace {

constexpr int kReplicateLog = 1;
constexpr int kReplicateReplicas = 2;

// Converts the arguments on the stack to texts, in place. An integer gets all the digits that a double has.
bool MakeTexts(lua_State* L, int count) {
  for (int i = 1; i <= count; ++i) {
    if (lua_type(L, i) == LUA_TNUMBER) {
      const std::string digits = FormatDouble(lua_tonumber(L, i));
      lua_pushlstring(L, digits.data(), digits.size());
      lua_replace(L, i);
    } else if (lua_type(L, i) != LUA_TSTRING) {
      return false;
    }
  }
  return true;
}

// Returns null and pushes an error table if the arguments are not a command.
std::vector<std::string_view>* ReadArguments(lua_State* L, LuaVm& vm) {
  const int count = lua_gettop(L);
  if (count == 0) {
    PushErrorTable(L, "ERR Please specify at least one argument for this redis lib call");
    return nullptr;
  }
  if (!MakeTexts(L, count)) {
    PushErrorTable(L, "ERR Lua redis lib command arguments must be strings or integers");
    return nullptr;
  }
  std::vector<std::string_view>& argv = vm.arguments();
  argv.clear();
  for (int i = 1; i <= count; ++i) argv.push_back(TextAt(L, i));
  return &argv;
}

// Pushes the reply or an error table. Returns true if redis.call must raise it.
bool RunCall(lua_State* L, LuaVm& vm) {
  const auto* argv = ReadArguments(L, vm);
  if (argv == nullptr) return true;
  std::string& out = vm.reply_buffer();
  const CallResult result = CallCommand(*vm.run(), *argv, out);
  lua_settop(L, 0);
  if (result == CallResult::kEnded) {
    PushErrorTable(L, "ERR the run has ended");
    return true;
  }
  if (result == CallResult::kRefused) {
    PushErrorTable(L, out);
    return true;
  }
  constexpr uint64_t kStepsPerCall = 20;
  vm.Charge(L, kStepsPerCall);
  PushReply(L, out);
  return !out.empty() && out[0] == '-';
}

int Call(lua_State* L) {
  LuaVm& vm = LuaVm::Of(L);
  if (vm.run() == nullptr) return RaiseError(L, "redis.call/pcall can only be called inside a script invocation");
  return RunCall(L, vm) ? lua_error(L) : 1;
}

int Pcall(lua_State* L) {
  LuaVm& vm = LuaVm::Of(L);
  if (vm.run() == nullptr) return RaiseError(L, "redis.call/pcall can only be called inside a script invocation");
  RunCall(L, vm);
  return vm.is_ending() ? lua_error(L) : 1;
}

int Sha1HexOf(lua_State* L) {
  if (lua_gettop(L) != 1) return RaiseError(L, "wrong number of arguments");
  const std::string_view text = TextAt(L, 1);
  constexpr size_t kBytesPerStep = 8;
  ChargeWork(L, text.size() / kBytesPerStep);
  const LuaVm::NoLimit no_limit(LuaVm::Of(L));
  PushText(L, Sha1Hex(text));
  return 1;
}

int StatusReply(lua_State* L) {
  if (lua_gettop(L) != 1 || lua_type(L, 1) != LUA_TSTRING) {
    PushErrorTable(L, "ERR wrong number or type of arguments");
    return 1;
  }
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "ok");
  return 1;
}

// Keeps "-CODE text" and "CODE text"; a single word gets the code ERR.
void PushErrorReply(lua_State* L) {
  const LuaVm::NoLimit no_limit(LuaVm::Of(L));
  std::string_view text = TextAt(L, 1);
  if (text.starts_with('-')) text.remove_prefix(1);
  const size_t blank = text.find(' ');
  std::string_view message = blank == std::string_view::npos ? text : text.substr(blank + 1);
  const std::string_view code = blank == std::string_view::npos ? "ERR" : text.substr(0, blank);
  while (!message.empty() && (message.front() == '\r' || message.front() == '\n')) message.remove_prefix(1);
  while (!message.empty() && (message.back() == '\r' || message.back() == '\n')) message.remove_suffix(1);
  PushErrorTable(L, std::string(code).append(" ").append(message));
}

int ErrorReply(lua_State* L) {
  if (lua_gettop(L) != 1 || lua_type(L, 1) != LUA_TSTRING) {
    PushErrorTable(L, "ERR wrong number or type of arguments");
  } else {
    PushErrorReply(L);
  }
  return 1;
}

int SetRepl(lua_State* L) {
  LuaVm& vm = LuaVm::Of(L);
  if (vm.run() == nullptr) return RaiseError(L, "redis.set_repl can only be called inside a script invocation");
  if (lua_gettop(L) != 1) return RaiseError(L, "redis.set_repl() requires two arguments.");
  const int flags = Truncated<int>(lua_tonumber(L, 1));
  if ((flags & ~(kReplicateLog | kReplicateReplicas)) != 0) {
    return RaiseError(L, "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.");
  }
  vm.run()->replicates = (flags & kReplicateReplicas) != 0;
  return 0;
}

int SetResp(lua_State* L) {
  LuaVm& vm = LuaVm::Of(L);
  if (vm.run() == nullptr) return RaiseError(L, "redis.setresp can only be called inside a script invocation");
  if (lua_gettop(L) != 1) return RaiseError(L, "redis.setresp() requires one argument.");
  const int protocol = Truncated<int>(lua_tonumber(L, 1));
  if (protocol != 2 && protocol != 3) return RaiseError(L, "RESP version must be 2 or 3.");
  vm.run()->protocol = protocol;
  return 0;
}

// Returns whether the user may run the command; nullopt if there is no such command.
std::optional<bool> MayCall(LuaVm& vm) {
  ScriptRun& run = *vm.run();
  const Command* command = FindCalled(run.ctx.table(), vm.arguments());
  if (command == nullptr) return std::nullopt;
  return !CheckAccess(run.ctx.session(), *command, vm.arguments());
}

int AclCheckCmd(lua_State* L) {
  LuaVm& vm = LuaVm::Of(L);
  if (vm.run() == nullptr) return RaiseError(L, "redis.acl_check_cmd can only be called inside a script invocation");
  if (ReadArguments(L, vm) == nullptr) return lua_error(L);
  const std::optional<bool> may = MayCall(vm);
  if (!may) return RaiseError(L, "Invalid command passed to redis.acl_check_cmd()");
  lua_pushboolean(L, *may);
  return 1;
}

// Joins the arguments of redis.log. A line of more than `most_bytes` is cut after the byte that exceeds them.
std::string ReadLogLine(lua_State* L, size_t most_bytes) {
  std::string line;
  for (int i = 2; i <= lua_gettop(L) && line.size() <= most_bytes; ++i) {
    if (!lua_isstring(L, i)) continue;
    if (i > 2) line.push_back(' ');
    line.append(TextAt(L, i).substr(0, most_bytes + 1 - line.size()));
  }
  return line;
}

// A run's lines are written at its end, so that a run that starts over writes none twice. Lua's limit does not count
// them, so they have a limit of their own.
void WriteLog(lua_State* L, LuaVm& vm, LogSeverity severity) {
  const LuaVm::NoLimit no_limit(vm);
  ScriptRun* const run = vm.run();
  const size_t room = ScriptRun::kMostLogBytes - (run == nullptr ? 0 : run->log_bytes);
  std::string line = ReadLogLine(L, room);
  const bool is_cut = room == 0 || line.size() > room;
  if (line.size() > room) line.resize(room);
  if (run == nullptr) {
    Log(severity, "{}", line);
    return;
  }
  run->log_is_cut = run->log_is_cut || is_cut;
  if (room == 0) return;
  run->log_bytes += std::min(room, line.size() + sizeof(ScriptRun::LogLine));
  run->log.emplace_back(severity, std::move(line));
}

int LogLine(lua_State* L) {
  if (lua_gettop(L) < 2) return RaiseError(L, "redis.log() requires two arguments or more.");
  if (!lua_isnumber(L, 1)) return RaiseError(L, "First argument must be a number (log level).");
  const int level = Truncated<int>(lua_tonumber(L, 1));
  if (level < 0 || level > static_cast<int>(LogSeverity::kWarning)) return RaiseError(L, "Invalid debug level.");
  const auto severity = static_cast<LogSeverity>(level);
  if (IsLogged(severity)) WriteLog(L, LuaVm::Of(L), severity);
  return 0;
}

// There is no debugger, so this does nothing.
int Breakpoint(lua_State* L) {
  lua_pushboolean(L, 0);
  return 1;
}

int Debug(lua_State*) { return 0; }

int ReplicateCommands(lua_State* L) {
  lua_pushboolean(L, 1);
  return 1;
}

constexpr char kOneArgument[] =
    "calling redis.register_function with a single argument is only applicable to Lua table (representing named "
    "arguments).";

// Reads the flags from the table on the top of the stack.
bool ReadFlags(lua_State* L, uint32_t& flags) {
  for (int i = 1;; ++i) {
    lua_rawgeti(L, -1, i);  // without metatables: their errors would leak the Function
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      return true;
    }
    const auto flag = lua_isstring(L, -1) ? FindScriptFlag(TextAt(L, -1), true) : std::nullopt;
    lua_pop(L, 1);
    if (!flag) return false;
    flags |= *flag;
  }
}

// Reads a named argument; its value is on the stack's top. Returns an error text or null. A callback goes to index 2.
const char* ReadNamed(lua_State* L, std::string_view name, Function& function, bool& has_name) {
  if (EqualsIgnoreCase(name, "function_name")) {
    if (!lua_isstring(L, -1)) return "function_name argument given to redis.register_function must be a string";
    function.name = TextAt(L, -1);
    has_name = true;
  } else if (EqualsIgnoreCase(name, "description")) {
    if (!lua_isstring(L, -1)) return "description argument given to redis.register_function must be a string";
    function.description = std::string(TextAt(L, -1));
  } else if (EqualsIgnoreCase(name, "callback")) {
    if (!lua_isfunction(L, -1)) return "callback argument given to redis.register_function must be a function";
    lua_pushvalue(L, -1);
    lua_replace(L, 2);
  } else if (EqualsIgnoreCase(name, "flags")) {
    if (!lua_istable(L, -1)) {
      return "flags argument to redis.register_function must be a table representing function flags";
    }
    if (!ReadFlags(L, function.flags)) return "unknown flag given";
  } else {
    return "unknown argument given to redis.register_function";
  }
  return nullptr;
}

const char* ReadNamedArguments(lua_State* L, Function& function) {
  if (!lua_istable(L, 1)) return kOneArgument;
  lua_settop(L, 2);  // the index of the callback
  bool has_name = false;
  lua_pushnil(L);
  while (lua_next(L, 1) != 0) {
    if (lua_type(L, -2) != LUA_TSTRING) return "named argument key given to redis.register_function is not a string";
    if (const char* error = ReadNamed(L, TextAt(L, -2), function, has_name)) return error;
    lua_pop(L, 1);
  }
  if (!has_name) return "redis.register_function must get a function name argument";
  if (!lua_isfunction(L, 2)) return "redis.register_function must get a callback argument";
  return nullptr;
}

const char* ReadFunction(lua_State* L, Function& function) {
  const int count = lua_gettop(L);
  if (count < 1 || count > 2) return "wrong number of arguments to redis.register_function";
  if (count == 1) return ReadNamedArguments(L, function);
  if (!lua_isstring(L, 1)) return "first argument to redis.register_function must be a string";
  if (!lua_isfunction(L, 2)) return "second argument to redis.register_function must be a function";
  function.name = TextAt(L, 1);
  return nullptr;
}

// Returns false and pushes an error table on failure.
bool Register(lua_State* L) {
  const LuaVm::NoLimit no_limit(LuaVm::Of(L));
  Function function;
  if (const char* error = ReadFunction(L, function)) {
    PushErrorTable(L, "ERR " + std::string(error));
    return false;
  }
  lua_settop(L, 2);
  const Status status = LuaVm::Of(L).Register(L, std::move(function));
  if (!status.ok()) PushErrorTable(L, "ERR " + std::string(status.text()));
  return status.ok();
}

int RegisterFunction(lua_State* L) {
  if (!LuaVm::Of(L).is_loading()) {
    return RaiseError(L, "redis.register_function can only be called on FUNCTION LOAD command");
  }
  return Register(L) ? 0 : lua_error(L);
}

void SetNumber(lua_State* L, const char* name, int number) {
  lua_pushinteger(L, number);
  lua_setfield(L, -2, name);
}

void AddLog(lua_State* L) {
  lua_pushcfunction(L, LogLine);
  lua_setfield(L, -2, "log");
  SetNumber(L, "LOG_DEBUG", static_cast<int>(LogSeverity::kDebug));
  SetNumber(L, "LOG_VERBOSE", static_cast<int>(LogSeverity::kVerbose));
  SetNumber(L, "LOG_NOTICE", static_cast<int>(LogSeverity::kNotice));
  SetNumber(L, "LOG_WARNING", static_cast<int>(LogSeverity::kWarning));
}

void AddVersion(lua_State* L) {
  PushText(L, kRedisVersion);
  lua_setfield(L, -2, "REDIS_VERSION");
  SetNumber(L, "REDIS_VERSION_NUM", kRedisVersionNumber);
  PushText(L, "redis");  // as in HELLO and INFO
  lua_setfield(L, -2, "SERVER_NAME");
  PushText(L, kRedisVersion);
  lua_setfield(L, -2, "SERVER_VERSION");
  SetNumber(L, "SERVER_VERSION_NUM", kRedisVersionNumber);
}

}  // namespace

void PushFunctionApi(lua_State* L) {
  lua_newtable(L);
  constexpr luaL_Reg kFunctions[] = {
      {"call", Call},
      {"pcall", Pcall},
      {"sha1hex", Sha1HexOf},
      {"error_reply", ErrorReply},
      {"status_reply", StatusReply},
      {"setresp", SetResp},
      {"set_repl", SetRepl},
      {"acl_check_cmd", AclCheckCmd},
      {nullptr, nullptr},
  };
  luaL_register(L, nullptr, kFunctions);
  AddLog(L);
  AddVersion(L);
  SetNumber(L, "REPL_NONE", 0);
  SetNumber(L, "REPL_AOF", kReplicateLog);
  SetNumber(L, "REPL_SLAVE", kReplicateReplicas);
  SetNumber(L, "REPL_REPLICA", kReplicateReplicas);
  SetNumber(L, "REPL_ALL", kReplicateLog | kReplicateReplicas);
}

void PushScriptApi(lua_State* L) {
  PushFunctionApi(L);
  constexpr luaL_Reg kFunctions[] = {
      {"breakpoint", Breakpoint}, {"debug", Debug}, {"replicate_commands", ReplicateCommands}, {nullptr, nullptr}};
  luaL_register(L, nullptr, kFunctions);
}

void PushLoadApi(lua_State* L) {
  lua_newtable(L);
  lua_pushcfunction(L, RegisterFunction);
  lua_setfield(L, -2, "register_function");
  AddLog(L);
  AddVersion(L);
}

}  // namespace cairn
