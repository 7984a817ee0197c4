// SPDX-License-Identifier: BSD-3-Clause
//
// SlotExport: the source of one atomic migration of slots (docs/decisions/slot-migration.md): it sends the keys of a
// snapshot to the target, then the writes to these slots from the log, holds the writes of clients to these slots back
// for a moment, and lets the target take the slots over.
//
// If the answer to that last request is lost or an error, it finds out who owns the slots before clients may write to
// them again.
//
// Thread: Run is for "slot-export"; Cancel and Stop may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/reply_counter.h"
#include "cluster/slot_migration.h"
#include "encoding/log_entry.h"
#include "replication/blocking_socket.h"
#include "replication/log_uses.h"
#include "resp/request_parser.h"
#include "storage/log_reader.h"

namespace cairn {

class Cluster;
class CommandTable;
class Config;
class Replication;
class Store;
class StoreSnapshot;
class Tls;

class SlotExport {
 public:
  struct Parts {
    Cluster& cluster;
    Store& store;
    Config& config;
    Tls& tls;
    Replication& replication;
    const CommandTable& table;
    MigrationList& list;
  };

  SlotExport(const Parts& parts, SlotMigration migration);

  // Carries the migration out; its end is noted in the list.
  void Run();
  // Ends the migration unless the target may own the slots already.
  void Cancel();
  // Ends Run soon, because the server stops.
  void Stop();

 private:
  // Writes of clients are held back while it exists.
  class Hold;

  // What the target answers when it is asked whether it owns the slots.
  enum class Answer : unsigned char { kNotTaken = 0, kTaken = 1, kUndecided = 2 };

  Status Migrate();
  Status Connect(BlockingSocket& socket, int64_t timeout_ms) const;
  // Sends requests with so many replies, and reads replies until at most `most_open` are missing.
  Status Send(std::string_view bytes, uint64_t replies, uint64_t most_open);
  Status AwaitReplies(uint64_t most_open, int64_t timeout_ms);
  // Sends CLUSTER SYNCSLOTS `step`, and awaits all replies.
  Status SendStep(std::string_view step, int64_t timeout_ms);
  Status Establish();
  Status SendSnapshot(const StoreSnapshot& snapshot);
  Status SendKeys(const StoreSnapshot& snapshot);
  // Sends the writes that are in the log, up to its end at the moment.
  Status SendLog();
  Status AddEntry(const LogEntry& entry, std::string& out, uint64_t& replies);
  Status HandOver();
  // After a lost answer or an error. A target that has not begun to take the slots over never will.
  Result<Answer> AskTarget();
  // Whether the target owns the slots, as soon as the target or the bus knows it. Returns an error if the target has
  // not answered until `until_us`; waits longer while it answers that it is undecided.
  Result<bool> Resolve(int64_t until_us);
  // Waits until the bus has given the slots to the target in this node's view.
  Status AwaitBus();
  // Gives the slots to the target in this node's view.
  Status FollowTarget();
  // The slots are this node's, and it is a master; no one has cancelled.
  Status CheckOwnership() const;
  bool OwnsSlots() const;
  Status Fail(std::string_view what) const;

  const Parts parts_;
  const SlotMigration migration_;
  const SlotSet slots_;
  BlockingSocket socket_;
  ReplyCounter replies_;
  uint64_t requests_ = 0;  // whose replies are counted
  std::string read_;       // a buffer
  std::shared_ptr<LogUses::Use> log_use_;
  std::unique_ptr<LogReader> log_;
  RequestParser parser_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> stopping_{false};
};

}  // namespace cairn
