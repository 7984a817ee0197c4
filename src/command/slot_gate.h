// SPDX-License-Identifier: BSD-3-Clause
//
// SlotGate: the check of a client's command on a node of a cluster. All keys of a command must be in one slot, and this
// node must serve it; otherwise the client gets CROSSSLOT, MOVED, ASK, TRYAGAIN or CLUSTERDOWN. It also refuses the
// commands that a cluster does not have (SELECT 1, MOVE, REPLICAOF ...).
//
// While a slot migrates, the keys decide: those that are here are served, and for others the client is sent to the
// target (ASK). So the second half of the check, CheckLocked, runs when the keys are locked. It also repeats the first
// half if the routes have changed since.
//
// Source: the Redis Cluster specification, "Redirection and resharding". Thread: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "command/session.h"
#include "command/table.h"
#include "storage/transaction.h"
#include "topology/slot_routes.h"
#include "types/limits.h"

namespace cairn {

class SlotGate {
 public:
  // What a cluster that is down still serves (directives cluster-allow-...-when-down).
  struct Rules {
    const std::atomic<bool>& reads_when_down;
    const std::atomic<bool>& shard_channels_when_down;
  };

  // A command of a client. For EXEC the keys are those of the queue.
  struct Call {
    const Session& session;
    const Command& command;
    std::span<const std::string_view> argv;
    // Results of Check: the slot of the keys, -1 if there are none, and the version of the routes.
    int slot = -1;
    uint64_t version = 0;
  };

  SlotGate(const SlotRoutes& routes, const CommandTable& table, const Rules& rules);

  const SlotRoutes& routes() const { return routes_; }

  // The error of a command that this node does not serve.
  Status Check(Call& call) const;
  // The same with the keys locked. kWouldWait: a key has to be read from the disk.
  Status CheckLocked(Call& call, Transaction& txn, const Limits& limits) const;

  // Whether the command must wait because it writes to a slot whose writes are held back (SlotRoutes::Hold). A script
  // may write keys that it does not declare, and FLUSHALL deletes the keys of all slots. REQUIRES: Check was called,
  // and the keys are locked.
  bool IsHeld(const Call& call) const;

  // The error of a script that may write if this node is a replica. REQUIRES: the call has its slot.
  Status CheckMayWrite(const Call& call) const;

  // Only sets the slot of the call. The error CROSSSLOT if the keys are in several.
  Status FindSlot(Call& call) const;

 private:
  Status CheckRoute(const Call& call, SlotRoute route) const;
  Status Redirect(const Call& call) const;
  Status CheckDown(const Call& call) const;
  Status CheckHasCommand(const Call& call) const;
  Status CheckSort(const Call& call) const;

  const SlotRoutes& routes_;
  const Rules rules_;
  // The commands that it refuses, or checks in a special way.
  const Command* const select_;
  const Command* const copy_;
  const Command* const migrate_;
  std::vector<const Command*> sorts_;
  std::vector<const Command*> refused_;
};

// Whether an error of the gate sends the client elsewhere or tells it to come back: EXEC replies it as it is.
bool IsRedirection(std::string_view error);

}  // namespace cairn
