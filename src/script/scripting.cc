// SPDX-License-Identifier: BSD-3-Clause
#include "script/scripting.h"

#include <algorithm>

#include "base/assert.h"
#include "base/clock.h"
#include "script/flags.h"

namespace cairn {
namespace {

constexpr uint64_t kCachePart = 4;  // the divisor of the memory limit

constexpr std::string_view kKilled = "ERR Script killed by user with SCRIPT KILL...";
constexpr std::string_view kUnkillable =
    "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script "
    "termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.";

}  // namespace

Scripting::Scripting(const std::atomic<int64_t>& busy_after_ms, BusyScripts& busy, const Conditions& conditions,
                     std::function<bool()> shows_calls, uint64_t most_bytes)
    : busy_after_ms_(busy_after_ms), busy_(busy), conditions_(conditions), shows_calls_(std::move(shows_calls)),
      cache_(most_bytes / kCachePart), memory_(most_bytes, [this] { return DestroyIdle(); }),
      libraries_(std::make_shared<const Libraries>()) {}

Scripting::~Scripting() = default;

Status Scripting::Load(std::vector<std::string> codes) {
  auto loaded = std::make_shared<Libraries>();
  for (std::string& code : codes) {
    LibraryHead head = TRY(ReadLibraryHead(code));
    auto library = std::make_shared<Library>();
    library->id = NewLibraryId();
    library->name = std::move(head.name);
    library->code = std::move(code);
    library->head_size = head.size;
    Lease vm = Borrow();  // another one, if the last library has left a state with much memory
    const Status status = vm->LoadLibrary(*library, *loaded, false);
    if (!status.ok()) {
      return Status::Io("the library '" + library->name + "' cannot be loaded: " + std::string(status.text()));
    }
    TRY(loaded->Add(std::move(library)));
  }
  Adopt(std::move(loaded));
  return Ok();
}

std::shared_ptr<const Libraries> Scripting::libraries() const {
  const MutexLock lock(libraries_mutex_);
  return libraries_;
}

Status Scripting::CheckRoom(const Libraries& libraries) const {
  return libraries.bytes() <= most_library_bytes() ? Ok() : Status::Reply(kLibrariesTooLarge);
}

void Scripting::Adopt(std::shared_ptr<const Libraries> libraries) {
  const MutexLock lock(libraries_mutex_);
  libraries_ = std::move(libraries);
}

Scripting::Lease Scripting::Borrow() {
  const uint64_t generation = cache_.generation();
  std::vector<std::unique_ptr<LuaVm>> outdated;
  std::unique_ptr<LuaVm> vm;
  {
    const MutexLock lock(vms_mutex_);
    while (!idle_.empty() && vm == nullptr) {
      std::unique_ptr<LuaVm> last = std::move(idle_.back());
      idle_.pop_back();
      if (last->generation() == generation) {
        vm = std::move(last);
      } else {
        std::erase(all_, last.get());
        outdated.push_back(std::move(last));
      }
    }
  }
  if (vm == nullptr) {
    vm = std::make_unique<LuaVm>(generation, static_cast<uint64_t>(MonotonicUs()), memory_);
    const MutexLock lock(vms_mutex_);
    all_.push_back(vm.get());
  }
  return Lease(*this, std::move(vm));
}

void Scripting::GiveBack(std::unique_ptr<LuaVm> vm) {
  vm->ForgetEvicted();
  const MutexLock lock(vms_mutex_);
  if (vm->is_worn_out()) {
    std::erase(all_, vm.get());
  } else {
    idle_.push_back(std::move(vm));
  }
}

bool Scripting::DestroyIdle() {
  std::unique_ptr<LuaVm> oldest;  // destroyed after the unlock
  const MutexLock lock(vms_mutex_);
  if (idle_.empty()) return false;
  oldest = std::move(idle_.front());
  idle_.erase(idle_.begin());
  std::erase(all_, oldest.get());
  return true;
}

void Scripting::SetMostBytes(uint64_t bytes) {
  memory_.set_limit(bytes);
  cache_.set_most_bytes(bytes / kCachePart);
}

size_t Scripting::vm_bytes() const {
  const MutexLock lock(vms_mutex_);
  size_t bytes = 0;
  for (const LuaVm* vm : all_) bytes += vm->bytes();
  return bytes;
}

void Scripting::LookAfter(ScriptRun& run) {
  if (ending_.load(std::memory_order_relaxed)) {
    run.stop = Status::Io("the server is stopping");
    return;
  }
  const int64_t busy_after_ms = busy_after_ms_.load(std::memory_order_relaxed);
  if (!run.is_busy) {
    const bool is_long = busy_after_ms > 0 && (MonotonicUs() - run.started_us) / 1000 >= busy_after_ms;
    if (is_long) BeginBusy(run);
    return;
  }
  const MutexLock lock(runs_mutex_);
  if (FindRun(run)->is_killed) run.stop = Status::Reply(kKilled);
}

// A run that is not busy yet registers later, with its has_written (BeginBusy).
Status Scripting::BeginWrite(ScriptRun& run) {
  if (run.is_busy) {
    const MutexLock lock(runs_mutex_);
    const auto busy = FindRun(run);
    if (busy->is_killed) return Status::Reply(kKilled);
    busy->has_written = true;
  }
  run.has_written = true;
  return Ok();
}

std::vector<Scripting::BusyRun>::iterator Scripting::FindRun(const ScriptRun& run) {
  const auto found = std::find_if(runs_.begin(), runs_.end(), [&run](const BusyRun& busy) { return busy.run == &run; });
  ASSERT(found != runs_.end(), "a busy run is registered");
  return found;
}

void Scripting::BeginBusy(ScriptRun& run) {
  const int64_t running_ms = (MonotonicUs() - run.started_us) / 1000;
  Log(LogSeverity::kWarning,
      "Slow script detected: still in execution after {} milliseconds. You can try killing the script using the {} "
      "command. Script name is: {}.",
      running_ms, run.is_function ? "FUNCTION KILL" : "SCRIPT KILL", run.name);
  run.is_busy = true;
  BusyRun busy{&run,
               {run.is_function, std::string(run.name), {run.argv.begin(), run.argv.end()}, 0},
               run.started_us,
               run.has_written};
  {
    const MutexLock lock(runs_mutex_);
    runs_.push_back(std::move(busy));
  }
  busy_.Begin(run.is_function);
}

void Scripting::EndBusy(ScriptRun& run) {
  if (!run.is_busy) return;
  run.is_busy = false;
  {
    const MutexLock lock(runs_mutex_);
    std::erase_if(runs_, [&run](const BusyRun& busy) { return busy.run == &run; });
  }
  busy_.End(run.is_function);
}

Status Scripting::Kill(bool is_function) {
  const MutexLock lock(runs_mutex_);
  if (runs_.empty()) return Status::Reply("NOTBUSY No scripts in execution right now.");
  const auto of_kind = std::find_if(runs_.begin(), runs_.end(),
                                    [=](const BusyRun& busy) { return busy.shown.is_function == is_function; });
  BusyRun& busy = of_kind == runs_.end() ? runs_.front() : *of_kind;
  if (busy.has_written) return Status::Reply(kUnkillable);
  if (busy.shown.is_function != is_function) {
    return Status::Reply(is_function ? BusyScripts::kByScript : BusyScripts::kByFunction);
  }
  busy.is_killed = true;
  Log(LogSeverity::kWarning, "Lua script killed by user with SCRIPT KILL.");
  return Ok();
}

bool Scripting::FindBusy(Busy& found) const {
  const MutexLock lock(runs_mutex_);
  if (runs_.empty()) return false;
  found = runs_.front().shown;
  found.running_ms = (MonotonicUs() - runs_.front().started_us) / 1000;
  return true;
}

}  // namespace cairn
