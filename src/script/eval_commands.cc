// SPDX-License-Identifier: BSD-3-Clause
//
// EVAL, EVALSHA, FCALL and their *_RO forms: a script or a function is one command. The dispatcher has locked the keys
// that it declares (script/script_call.h has the other locks).
#include "acl/catalogue.h"
#include "base/clock.h"
#include "command/parts.h"
#include "script/families.h"
#include "script/flags.h"
#include "script/library_store.h"
#include "script/run_command.h"
#include "script/scripting.h"

namespace cairn {
namespace {

constexpr std::string_view kNoSuchScript = "NOSCRIPT No matching script. Please use EVAL.";
constexpr size_t kShaDigits = 40;

Status RunScript(Scripting& scripting, CommandContext& ctx, const Args& args, LuaVm& vm, const Script& script,
                 const ScriptArguments& arguments, bool read_only, Reply& reply) {
  ScriptRun run(ctx, scripting, script.sha, args.all(), false);
  TRY(PrepareRun(run, script.flags, read_only));
  return RunAsScript(run, [&] { return vm.RunScript(run, script, arguments.keys, arguments.args, reply); });
}

// Compiles the script in this state and adds it to the cache, if needed.
Result<const Script*> Define(Scripting& scripting, LuaVm& vm, std::string_view body) {
  if (const Script* known = vm.compiled().FindBody(body)) return known;
  std::string sha = Sha1Hex(body);
  std::shared_ptr<const Script> script = scripting.cache().Find(sha);
  if (script == nullptr) {
    const ScriptHead head = TRY(ReadScriptHead(body));
    script = std::make_shared<const Script>(std::move(sha), body, head.size, head.flags);
  }
  TRY(vm.Compile(script));
  script->used_us.store(MonotonicUs(), std::memory_order_relaxed);
  scripting.cache().AddEvaluated(script);
  return vm.compiled().Find(*script);
}

// EVAL and EVAL_RO.
template <bool kOnlyReads>
Status EvalBody(Scripting& scripting, CommandContext& ctx, Args& args, Reply& reply) {
  TRY(CheckSize(ctx, args, args[1]));
  const ScriptArguments arguments = TRY(ReadScriptArguments(args, errors::kNotAnInteger));
  Scripting::Lease vm = scripting.Borrow();
  const Script* script = TRY(Define(scripting, *vm, args[1]));
  return RunScript(scripting, ctx, args, *vm, *script, arguments, kOnlyReads, reply);
}

// EVALSHA and EVALSHA_RO.
template <bool kOnlyReads>
Status EvalSha(Scripting& scripting, CommandContext& ctx, Args& args, Reply& reply) {
  TRY(CheckSize(ctx, args, args[1]));
  if (args[1].size() != kShaDigits) return Status::Reply(kNoSuchScript);
  const ScriptArguments arguments = TRY(ReadScriptArguments(args, errors::kNotAnInteger));
  const std::string sha = LowerCase(args[1]);
  Scripting::Lease vm = scripting.Borrow();
  const Script* script = vm->compiled().FindSha(sha);
  if (script == nullptr) {
    std::shared_ptr<const Script> cached = scripting.cache().Find(sha);
    if (cached == nullptr) return Status::Reply(kNoSuchScript);
    TRY(vm->Compile(cached));
    script = vm->compiled().Find(*cached);
  }
  return RunScript(scripting, ctx, args, *vm, *script, arguments, kOnlyReads, reply);
}

// FCALL and FCALL_RO.
template <bool kOnlyReads>
Status CallFunction(Scripting& scripting, CommandContext& ctx, Args& args, Reply& reply) {
  TRY(CheckSize(ctx, args, args[1]));
  const Libraries::Found found = LibrariesOf(scripting, ctx.txn())->FindFunction(args[1]);
  if (found.library == nullptr) return Status::Reply("ERR Function not found");
  const ScriptArguments arguments = TRY(ReadScriptArguments(args, "ERR Bad number of keys provided"));
  ScriptRun run(ctx, scripting, found.function->name, args.all(), true);
  TRY(PrepareRun(run, found.function->flags, kOnlyReads));
  Scripting::Lease vm = scripting.Borrow();
  return RunAsScript(run, [&] {
    return vm->RunFunction(run, *found.library, *found.function, arguments.keys, arguments.args, reply);
  });
}

constexpr std::string_view kAssumeWrite =
    "We cannot tell how the keys will be used so we assume the worst, RW and UPDATE";
constexpr std::string_view kAssumeRead =
    "We cannot tell how the keys will be used so we assume the worst, RO and ACCESS";
constexpr uint64_t kAny = kNoScript | kStale | kSkipMonitor | kMayReplicate | kNoMandatoryKeys | kRunsScript;
constexpr uint64_t kReading = kNoScript | kStale | kSkipMonitor | kNoMandatoryKeys | kReadonly | kRunsScript;
constexpr std::string_view kComplexity = "That of the script";

constexpr KeySpec ScriptKeys(uint16_t flags, std::string_view notes) {
  return {.flags = flags, .begin = 2, .keynum = 0, .first_after_keynum = 1, .notes = notes};
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "eval", .arity = -3, .flags = kAny, .keys = {ScriptKeys(kRW | kAccess | kUpdate, kAssumeWrite)},
     .run = With<EvalBody<false>>, .group = Group::kScripting, .since = "2.6.0", .summary = "Runs a Lua script.",
     .complexity = kComplexity, .syntax = "script numkeys [key [key ...]] [arg [arg ...]]"},
    {.name = "eval_ro", .arity = -3, .flags = kReading, .keys = {ScriptKeys(kRO | kAccess, kAssumeRead)},
     .run = With<EvalBody<true>>, .group = Group::kScripting, .since = "7.0.0",
     .summary = "Runs a read-only Lua script.", .complexity = kComplexity,
     .syntax = "script numkeys [key [key ...]] [arg [arg ...]]"},
    {.name = "evalsha", .arity = -3, .flags = kAny, .keys = {ScriptKeys(kRW | kAccess | kUpdate, {})},
     .run = With<EvalSha<false>>, .group = Group::kScripting, .since = "2.6.0",
     .summary = "Runs a cached script by its SHA-1.", .complexity = kComplexity,
     .syntax = "sha1 numkeys [key [key ...]] [arg [arg ...]]"},
    {.name = "evalsha_ro", .arity = -3, .flags = kReading, .keys = {ScriptKeys(kRO | kAccess, {})},
     .run = With<EvalSha<true>>, .group = Group::kScripting, .since = "7.0.0",
     .summary = "Runs a cached read-only script by its SHA-1.", .complexity = kComplexity,
     .syntax = "sha1 numkeys [key [key ...]] [arg [arg ...]]"},
    {.name = "fcall", .arity = -3, .flags = kAny, .keys = {ScriptKeys(kRW | kAccess | kUpdate, kAssumeWrite)},
     .run = With<CallFunction<false>>, .group = Group::kScripting, .since = "7.0.0", .summary = "Runs a function.",
     .complexity = "That of the function", .syntax = "function numkeys [key [key ...]] [arg [arg ...]]"},
    {.name = "fcall_ro", .arity = -3, .flags = kReading, .keys = {ScriptKeys(kRO | kAccess, kAssumeRead)},
     .run = With<CallFunction<true>>, .group = Group::kScripting, .since = "7.0.0",
     .summary = "Runs a read-only function.", .complexity = "That of the function",
     .syntax = "function numkeys [key [key ...]] [arg [arg ...]]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> EvalCommands() { return kRows; }

}  // namespace cairn
