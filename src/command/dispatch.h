// SPDX-License-Identifier: BSD-3-Clause
//
// Dispatcher: from a request to its reply. It finds the command's row, checks the gates (small named checks of the
// row's flags and the session's state), locks keys, and runs the command's function on the worker's transaction. The
// returned Status decides: done, run again on the slow lane, or parked.
//
// Thread: any; one dispatcher serves all workers and has no state per command.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "command/busy_scripts.h"
#include "command/conditions.h"
#include "command/context.h"
#include "command/session.h"
#include "command/slot_gate.h"
#include "command/table.h"
#include "command/waiters.h"
#include "resp/reply.h"
#include "storage/transaction.h"
#include "types/limits.h"

namespace cairn {

// What a command needs from its worker.
struct CommandWorker {
  Transaction& txn;
  Random& random;
  Lane lane;
  std::vector<uint32_t>& positions;  // scratch, reused to avoid allocations
  std::vector<uint32_t>& stripes;    // likewise; after a command, the stripes it locked
};

enum class Verdict : unsigned char {
  kDone,       // the reply is written
  kWouldWait,  // no effect yet: run it on the slow lane
  kParked,     // no reply yet: run it again when the session is woken
  kHeldBack,   // no effect yet: run it again soon: a pause of writes has begun, or its slot is about to move
};

struct Outcome {
  Verdict verdict = Verdict::kDone;
  const Command* command = nullptr;     // null: unknown
  bool rejected = false;                // refused by a gate
  bool queued = false;                  // queued for EXEC
  bool failed = false;                  // ran and replied with an error
  bool wrote = false;                   // its changes are in the tick: the reply must wait for the commit
  bool is_uncommitted = false;          // it read uncommitted data or added a notification: the reply must wait too
  bool wakes = false;                   // it changed a key that a client is parked on: end the tick now
  std::vector<QueuedCommand> ran;       // EXEC: the commands it ran
  std::unique_ptr<ScriptCalls> called;  // the calls of its scripts; null: none
};

// Called for each call that a user's rules deny, with the denied object.
using DenialListener = std::function<void(Session& session, DenialReason reason, std::string_view object)>;

class Dispatcher {
 public:
  Dispatcher(const CommandTable& table, const Limits& limits, Waiters& waiters)
      : table_(table), limits_(limits), waiters_(waiters) {}

  // Runs one request. `rerun`: the command was parked and has been woken. A key of the wrong type then does not end its
  // wait, and the command parks again.
  Outcome Execute(CommandWorker& worker, Session& session, std::span<const std::string_view> argv, Reply& reply,
                  bool rerun = false);

  // Runs a command of the stream from this server's primary. `command` is the result of CommandTable::ResolveAny, null
  // if unknown. No gate applies and the tick is never discarded; the caller gets the error as a Status. kWouldWait
  // means that nothing has happened; a transaction without changes waits instead. `everything` locks all keys. `ran`
  // becomes the commands that EXEC ran.
  Status Apply(CommandWorker& worker, Session& session, const Command* command, std::span<const std::string_view> argv,
               Reply& reply, bool everything, std::vector<QueuedCommand>& ran);

  // Ends the wait of a parked session with its command's timeout reply (or CLIENT UNBLOCK's error).
  void GiveUp(Session& session, UnblockRequest why, Reply& reply);

  // Forgets a session that is being closed.
  void Forget(Session& session);

  Conditions& conditions() { return conditions_; }

  // Must be called before any command runs.
  void set_denial_listener(DenialListener listener) { denial_listener_ = std::move(listener); }
  // `address` returns "host:port" of the primary (empty: none), for clients with CAPA REDIRECT.
  void set_primary_address(std::function<std::string()> address) { primary_address_ = std::move(address); }
  // On a node of a cluster: the check of the slots of each command.
  void set_slot_gate(const SlotGate* gate) { slot_gate_ = gate; }
  BusyScripts& busy_scripts() { return busy_scripts_; }

 private:
  struct Call;
  Status CheckGates(Call& call);
  Status CheckLocked(Call& call);
  Status CheckUser(const Call& call);
  static bool AnyOf(const Call& call, CommandFlag flag, bool missing);
  Status CheckRedirect(const Call& call, bool writes) const;
  Status CheckConditions(const Call& call);
  Status CheckDataLimits(const Call& call) const;
  void LogLateDenials(const Call& call);
  void LogScriptDenials(const Call& call);
  void Refuse(const Call& call, std::string_view text, Reply& reply);
  void Enqueue(const Call& call, Reply& reply);
  bool StartsOnSlowLane(const Call& call) const;
  Status LockFor(Call& call, bool everything);
  bool AddStripes(CommandWorker& worker, const Command& command, std::span<const std::string_view> argv,
                  bool reads_too);
  uint64_t MostMemory(const Call& call) const;
  Status RunOnce(Call& call, Reply& reply, bool everything);
  bool ExpireFound(CommandWorker& worker, const Command& command);
  static void FindAwaitedKeys(const Call& call);
  Result<bool> HasAwaitedKey(Call& call);
  void ParkOn(Call& call, int64_t timeout_ms);
  void Conclude(Call& call, Status status, Reply& reply, Outcome& outcome);

  const CommandTable& table_;
  const Limits& limits_;
  Waiters& waiters_;
  BusyScripts busy_scripts_;
  DenialListener denial_listener_;
  std::function<std::string()> primary_address_;
  const SlotGate* slot_gate_ = nullptr;  // null: no cluster
  Conditions conditions_;
};

}  // namespace cairn
