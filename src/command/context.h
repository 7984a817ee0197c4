// SPDX-License-Identifier: BSD-3-Clause
//
// CommandContext: what a command's function may use. Thread: that of the worker.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "command/script_calls.h"
#include "command/session.h"
#include "command/table.h"
#include "storage/transaction.h"
#include "types/events.h"
#include "types/keyspace.h"
#include "types/limits.h"

namespace cairn {

class Waiters;

// The wait of a command for one of its keys.
struct BlockWait {
  int64_t timeout_ms = 0;    // the longest wait; 0: no limit
  int64_t run_again_ms = 0;  // Unix time at which the command runs again although no key has changed; 0: never
};

class CommandContext {
 public:
  CommandContext(Transaction& txn, Session& session, const Command& command, const CommandTable& table,
                 const Limits& limits, Random& random)
      : txn_(txn), session_(session), command_(command), table_(table), limits_(limits), random_(random) {}

  Transaction& txn() { return txn_; }
  Session& session() { return session_; }
  const Command& command() const { return command_; }
  const CommandTable& table() const { return table_; }
  const Limits& limits() const { return limits_; }
  Random& random() { return random_; }

  // Unix time in ms, the same during the whole command.
  int64_t now_ms() const { return txn_.command().now_ms(); }

  // How a command that returns MustBlock waits. It must be set before it returns.
  BlockWait& wait() { return wait_; }

  // Replaces an argument for reruns of a command that returned MustBlock: `$` must keep the meaning it had first.
  void ReplaceWhenParked(size_t position, std::string text) { replaced_.emplace_back(position, std::move(text)); }
  std::vector<std::pair<size_t, std::string>> TakeReplaced() { return std::move(replaced_); }

  // The registry of waiting clients, for WATCH and EXEC.
  Waiters& waiters() { return *waiters_; }
  void set_waiters(Waiters* waiters) { waiters_ = waiters; }

  // The calls that scripts made in this run of the command.
  ScriptCalls& script_calls() {
    if (*script_calls_ == nullptr) *script_calls_ = std::make_unique<ScriptCalls>();
    return **script_calls_;
  }
  // `calls` must outlive the context.
  void set_script_calls(std::unique_ptr<ScriptCalls>* calls) { script_calls_ = calls; }

  // ---- the command's changes: events, invalidations, replication
  // Emits `event` for `key` and counts `changes` changes.
  void Changed(EventClass of, std::string_view event, std::string_view key, uint64_t changes = 1) {
    CountChanges(changes);
    Emit(of, event, key);
  }
  // Emits the event only, in the selected database or in database `db`.
  void Emit(EventClass of, std::string_view event, std::string_view key) { EmitIn(session_.db, of, event, key); }
  void EmitIn(int db, EventClass of, std::string_view event, std::string_view key) {
    if (txn_.replicated_commands().interest() & (of | kInterestInKeys)) [[unlikely]]
      EmitToOthers(db, of, event, key);
  }
  // Notifies that databases were emptied.
  void NotifyFlushed();
  // Elements were removed from a collection: emits `event`, and `del` if none are left.
  void Shrunk(EventClass of, std::string_view event, std::string_view key, uint64_t removed, bool is_empty) {
    Changed(of, event, key, removed);
    if (is_empty) Emit(kGenericEvent, "del", key);
  }
  // A result was stored under a key; an empty result removed the key if it existed (`replaced`).
  void Stored(EventClass of, std::string_view event, std::string_view key, bool is_empty, bool replaced) {
    if (!is_empty) {
      Changed(of, event, key);
    } else if (replaced) {
      Changed(kGenericEvent, "del", key);
    }
  }
  void CountChanges(uint64_t changes) { changes_ += changes; }
  // Replicates this command. Without such a call, a command that counts changes is replicated as the client sent it.
  void Replicate(std::span<const std::string_view> argv) {
    replicates_itself_ = true;
    if (is_replicated()) txn_.replicated_commands().Add(session_.db, argv);
  }
  void Replicate(std::initializer_list<std::string_view> argv) { Replicate(std::span(argv.begin(), argv.size())); }
  // The changes need no replication: a replica makes them itself.
  void ReplicateNothing() { replicates_itself_ = true; }
  // "DEL", or "UNLINK" if the configuration asks for it: kUnlinksDeleted, kUnlinksExpired.
  std::string_view DeletionFor(InterestMask unlinks) const {
    return txn_.replicated_commands().interest() & unlinks ? "UNLINK" : "DEL";
  }
  bool is_replicated() const { return txn_.replicated_commands().interest() & kInterestInReplication; }

  // A context for another command with the same environment: EXEC running its queue.
  CommandContext For(const Command& command) {
    CommandContext ctx(txn_, session_, command, table_, limits_, random_);
    ctx.set_waiters(waiters_);
    ctx.set_script_calls(script_calls_);
    return ctx;
  }

  // The selected database, or database `db` (REQUIRES: below `databases`).
  Keyspace keys() { return keys(session_.db); }
  Keyspace keys(int db) {
    Keyspace keys(txn_, db, limits_);
    keys.EmitMisses(command_.Has(kReadonly));
    return keys;
  }

 private:
  void EmitToOthers(int db, EventClass of, std::string_view event, std::string_view key);
  void RememberReads(std::span<const std::string_view> argv);
  friend Status RunCommand(CommandContext& ctx, std::span<const std::string_view> argv, Reply& reply);

  Transaction& txn_;
  Session& session_;
  const Command& command_;
  const CommandTable& table_;
  const Limits& limits_;
  Random& random_;
  Waiters* waiters_ = nullptr;
  std::unique_ptr<ScriptCalls>* script_calls_ = nullptr;
  BlockWait wait_;
  uint64_t changes_ = 0;
  bool replicates_itself_ = false;
  std::vector<std::pair<size_t, std::string>> replaced_;
};

// Runs the function of the context's command and emits its changes. Every command runs through this; a command that
// EXEC or a script runs has its own context.
Status RunCommand(CommandContext& ctx, std::span<const std::string_view> argv, Reply& reply);

}  // namespace cairn
