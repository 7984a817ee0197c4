// SPDX-License-Identifier: BSD-3-Clause
//
// CommandContext: what a command may use while it runs. Thread: the worker's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "command/script_calls.h"
#include "command/session.h"
#include "command/table.h"
#include "storage/transaction.h"
#include "types/keyspace.h"
#include "types/limits.h"

namespace cairn {

class Scripting;  // script/scripting.h; only the commands of script/ and server/ look into it
class Waiters;
class Server;  // server/server.h; only the commands of server/ look into it

class CommandContext {
 public:
  CommandContext(Transaction& txn, Session& session, const Command& command, const CommandTable& table,
                 const Limits& limits, Random& random, Server* server)
      : txn_(txn), session_(session), command_(command), table_(table), limits_(limits), random_(random),
        server_(server) {}

  Transaction& txn() { return txn_; }
  Session& session() { return session_; }
  const Command& command() const { return command_; }
  const CommandTable& table() const { return table_; }
  const Limits& limits() const { return limits_; }
  Random& random() { return random_; }
  Server& server() { return *server_; }

  // Unix time in ms, the same for the whole command and in every rerun of it.
  int64_t now_ms() const { return txn_.now_ms(); }

  // How long a command that answers MustBlock waits at most; 0: for ever. To be set before it does.
  int64_t block_timeout_ms() const { return block_timeout_ms_; }
  void set_block_timeout_ms(int64_t timeout_ms) { block_timeout_ms_ = timeout_ms; }

  // An argument that stands for something else when the command, after MustBlock, is run again: what `$` meant
  // when it was said.
  void ReplaceWhenParked(size_t position, std::string text) {
    replaced_.emplace_back(position, std::move(text));
  }
  std::vector<std::pair<size_t, std::string>> TakeReplaced() { return std::move(replaced_); }

  // Who waits for keys; for WATCH and EXEC.
  Waiters& waiters() { return *waiters_; }
  void set_waiters(Waiters* waiters) { waiters_ = waiters; }

  Scripting& scripting() { return *scripting_; }
  // What scripts have called so far in this run of the command.
  ScriptCalls& script_calls() {
    if (*script_calls_ == nullptr) *script_calls_ = std::make_unique<ScriptCalls>();
    return **script_calls_;
  }
  // `calls` outlives the context.
  void set_scripting(Scripting* scripting, std::unique_ptr<ScriptCalls>* calls) {
    scripting_ = scripting;
    script_calls_ = calls;
  }

  // The same surroundings for another command: EXEC running its queue, a script.
  CommandContext For(const Command& command) {
    CommandContext ctx(txn_, session_, command, table_, limits_, random_, server_);
    ctx.set_waiters(waiters_);
    ctx.set_scripting(scripting_, script_calls_);
    return ctx;
  }

  // The selected database, or database `db` (REQUIRES: below `databases`).
  Keyspace keys() { return Keyspace(txn_, session_.db, limits_); }
  Keyspace keys(int db) { return Keyspace(txn_, db, limits_); }

 private:
  Transaction& txn_;
  Session& session_;
  const Command& command_;
  const CommandTable& table_;
  const Limits& limits_;
  Random& random_;
  Server* server_;
  Waiters* waiters_ = nullptr;
  Scripting* scripting_ = nullptr;
  std::unique_ptr<ScriptCalls>* script_calls_ = nullptr;
  int64_t block_timeout_ms_ = 0;
  std::vector<std::pair<size_t, std::string>> replaced_;
};

}  // namespace cairn
