// SPDX-License-Identifier: BSD-3-Clause
#include "command/slot_gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/words.h"
#include "types/keyspace.h"

namespace cairn {
namespace {

constexpr std::string_view kCrossSlot = "CROSSSLOT Keys in request don't hash to the same slot";
constexpr std::string_view kTryAgain = "TRYAGAIN Multiple keys request during rehashing of slot";
constexpr std::string_view kNotServed = "CLUSTERDOWN Hash slot not served";
constexpr std::string_view kDown = "CLUSTERDOWN The cluster is down";
constexpr std::string_view kDownForWrites = "CLUSTERDOWN The cluster is down and only accepts read commands";

bool NamesShardChannels(const Command& command) { return (command.row().keys[0].flags & kNotKey) != 0; }

// Calls visit(key) for each key and shard channel of the call until it returns false.
template <typename Visit>
bool ForEachKeyOf(const Command& command, std::span<const std::string_view> argv, Visit visit) {
  if (const uint32_t only = command.only_key().position; only != 0) return only >= argv.size() || visit(argv[only]);
  std::vector<uint32_t> positions;
  static_cast<void>(command.FindSlotted(argv, positions));
  return std::all_of(positions.begin(), positions.end(), [&](uint32_t position) { return visit(argv[position]); });
}

// The same for each command that the call runs, with or without those of shard channels.
template <typename Visit>
bool ForEachKey(const SlotGate::Call& call, bool with_channels, Visit visit) {
  const auto visit_keys_of = [&](const Command& command, std::span<const std::string_view> argv) {
    return (!with_channels && NamesShardChannels(command)) || ForEachKeyOf(command, argv, visit);
  };
  if (!call.command.Has(kRunsQueue)) return visit_keys_of(call.command, call.argv);
  return std::ranges::all_of(call.session.multi.queue, [&](const QueuedCommand& queued) {
    const std::vector<std::string_view> argv(queued.argv.begin(), queued.argv.end());
    return visit_keys_of(*queued.command, argv);
  });
}

// Returns whether the condition holds for the command, or for one that EXEC runs.
template <typename Condition>
bool AnyOf(const SlotGate::Call& call, Condition condition) {
  if (!call.command.Has(kRunsQueue)) return condition(call.command);
  return std::ranges::any_of(call.session.multi.queue,
                             [&](const QueuedCommand& queued) { return condition(*queued.command); });
}

bool HasFlag(const SlotGate::Call& call, CommandFlag flag) {
  return AnyOf(call, [flag](const Command& command) { return command.Has(flag); });
}

bool RunsWritingScript(const Command& command) { return command.Has(kRunsScript) && !command.Has(kReadonly); }

bool IsOneOf(const Command& command, const std::vector<const Command*>& some) {
  return std::ranges::find(some, &command) != some.end();
}

std::vector<const Command*> Named(const CommandTable& table, std::initializer_list<std::string_view> names) {
  std::vector<const Command*> commands;
  for (const std::string_view name : names) {
    if (const Command* const command = table.Find(name); command != nullptr) commands.push_back(command);
  }
  return commands;
}

}  // namespace

bool IsRedirection(std::string_view error) {
  constexpr std::string_view kCodes[] = {"MOVED ", "ASK ", "TRYAGAIN ", "CROSSSLOT ", "CLUSTERDOWN ", "REDIRECT "};
  return std::ranges::any_of(kCodes, [error](std::string_view code) { return error.starts_with(code); });
}

SlotGate::SlotGate(const SlotRoutes& routes, const CommandTable& table, const Rules& rules)
    : routes_(routes), rules_(rules), select_(table.Find("select")), copy_(table.Find("copy")),
      migrate_(table.Find("migrate")), sorts_(Named(table, {"sort", "sort_ro"})),
      refused_(Named(table, {"move", "swapdb", "replicaof", "slaveof", "failover"})) {}

// A pattern may lead to keys of other slots, unless its hash tag is that of the key (Redis 8).
Status SlotGate::CheckSort(const Call& call) const {
  const auto is_elsewhere = [&](std::string_view pattern) {
    const bool leads_to_keys = pattern.find('*') != std::string_view::npos;
    const size_t open = pattern.find('{');
    const size_t close = open == std::string_view::npos ? open : pattern.find('}', open + 1);
    const bool has_tag = close != std::string_view::npos && close > open + 1 &&
                         pattern.substr(open, close - open).find('*') == std::string_view::npos;
    return leads_to_keys && (!has_tag || KeySlot(pattern) != KeySlot(call.argv[1]));
  };
  for (size_t i = 2; i + 1 < call.argv.size(); ++i) {
    for (const std::string_view option : {"BY", "GET"}) {
      if (!EqualsIgnoreCase(call.argv[i], option) || !is_elsewhere(call.argv[i + 1])) continue;
      return Status::Reply(fmt::format(
          "ERR {} option of SORT denied in cluster mode when keys formed by the pattern may be in different slots.",
          option));
    }
  }
  return Ok();
}

Status SlotGate::CheckHasCommand(const Call& call) const {
  const Command* const command = &call.command;
  if (command == select_ && call.argv[1] != "0") return Status::Reply("ERR SELECT is not allowed in cluster mode");
  if (IsOneOf(*command, refused_)) {
    std::string name = command->full_name();
    std::ranges::transform(name, name.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
    if (name == "SLAVEOF") name = "REPLICAOF";
    if (name == "REPLICAOF") return Status::Reply("ERR REPLICAOF not allowed in cluster mode.");
    if (name == "FAILOVER") return Status::Reply("ERR FAILOVER not allowed in cluster mode.");
    return Status::Reply(fmt::format("ERR {} is not allowed in cluster mode", name));
  }
  if (command == copy_) {
    for (size_t i = 3; i + 1 < call.argv.size(); ++i) {
      if (!EqualsIgnoreCase(call.argv[i], "DB") || call.argv[i + 1] == "0") continue;
      return Status::Reply("ERR Copying to another database is not allowed in cluster mode");
    }
  }
  return IsOneOf(*command, sorts_) ? CheckSort(call) : Ok();
}

Status SlotGate::FindSlot(Call& call) const {
  call.slot = -1;
  const bool is_one_slot = ForEachKey(call, /*with_channels=*/true, [&](std::string_view key) {
    const int slot = KeySlot(key);
    if (call.slot == -1) call.slot = slot;
    return slot == call.slot;
  });
  if (is_one_slot) return Ok();
  return Status::Reply(routes_.Of(call.slot) == SlotRoute::kUnassigned ? kNotServed : kCrossSlot);
}

Status SlotGate::CheckDown(const Call& call) const {
  if (routes_.is_up()) return Ok();
  const bool allows_reads = AnyOf(call, NamesShardChannels)
                                ? rules_.shard_channels_when_down.load(std::memory_order_relaxed)
                                : rules_.reads_when_down.load(std::memory_order_relaxed);
  if (!allows_reads) return Status::Reply(kDown);
  return HasFlag(call, kWrite) ? Status::Reply(kDownForWrites) : Ok();
}

Status SlotGate::CheckRoute(const Call& call, SlotRoute route) const {
  const Session& session = call.session;
  switch (route) {
    case SlotRoute::kUnassigned: return Status::Reply(kNotServed);
    case SlotRoute::kServed:
    case SlotRoute::kMigrating: return CheckDown(call);
    case SlotRoute::kImporting:
      TRY(CheckDown(call));
      if (session.redirection.asks || call.command.Has(kAsking) || &call.command == migrate_) return Ok();
      break;
    case SlotRoute::kOfMaster:
      TRY(CheckDown(call));
      if (HasFlag(call, kWrite)) break;
      if (session.redirection.reads_replica || AnyOf(call, NamesShardChannels)) return Ok();
      break;
    case SlotRoute::kElsewhere: TRY(CheckDown(call)); break;
  }
  return Redirect(call);
}

Status SlotGate::CheckMayWrite(const Call& call) const {
  return call.slot != -1 && routes_.Of(call.slot) == SlotRoute::kOfMaster ? Redirect(call) : Ok();
}

Status SlotGate::Redirect(const Call& call) const {
  const std::string address = routes_.OwnerAddress(call.slot, call.session.socket.tls);
  if (address.empty()) return Status::Reply(kNotServed);
  return Status::Reply(fmt::format("MOVED {} {}", call.slot, address));
}

bool SlotGate::IsHeld(const Call& call) const {
  if (!routes_.holds_any() || call.session.is_primary) return false;
  if (AnyOf(call, RunsWritingScript) || HasFlag(call, kLockAll)) return true;
  if (call.slot == -1 || !routes_.IsHeld(call.slot) || NamesShardChannels(call.command)) return false;
  return HasFlag(call, kWrite) || HasFlag(call, kMayReplicate);
}

Status SlotGate::Check(Call& call) const {
  call.version = routes_.version();
  // The source of a migration sends keys of slots that this node does not serve yet (CLUSTER SYNCSLOTS).
  if (call.session.is_primary) return Ok();
  TRY(CheckHasCommand(call));
  TRY(FindSlot(call));
  return call.slot == -1 ? Ok() : CheckRoute(call, routes_.Of(call.slot));
}

Status SlotGate::CheckLocked(Call& call, Transaction& txn, const Limits& limits) const {
  if (call.version != routes_.version()) TRY(Check(call));
  if (call.slot == -1) return Ok();
  // The routes change one by one, and their version afterwards. So the route itself decides: its owner waits for the
  // holders of keys after it has changed the route.
  const SlotRoute route = routes_.Of(call.slot);
  if (route == SlotRoute::kServed) return Ok();
  TRY(CheckRoute(call, route));
  const bool is_open = route == SlotRoute::kMigrating || route == SlotRoute::kImporting;
  if (!is_open || &call.command == migrate_) return Ok();
  // A blocked client waits on for its key until the slot has left.
  if (route == SlotRoute::kMigrating && call.session.blocking.command != nullptr) return Ok();
  Keyspace keyspace(txn, 0, limits);
  int existing = 0;
  int missing = 0;
  std::string_view first;
  bool has_several = false;  // different keys
  Status failed;
  ForEachKey(call, /*with_channels=*/false, [&](std::string_view key) {
    if (existing + missing == 0) first = key;
    has_several = has_several || key != first;
    auto entry = keyspace.Find(keyspace.Name(key), Access::kPeek);
    if (!entry.ok()) {
      failed = std::move(entry).TakeStatus();
      return false;
    }
    ++(entry->exists() ? existing : missing);
    return true;
  });
  TRY(std::move(failed));
  if (missing == 0) return Ok();
  if (route == SlotRoute::kImporting) return has_several ? Status::Reply(kTryAgain) : Ok();
  if (existing > 0) return Status::Reply(kTryAgain);
  const std::string target = routes_.TargetAddress(call.slot, call.session.socket.tls);
  // The migration has ended since the route was read.
  if (target.empty()) return CheckLocked(call, txn, limits);
  return Status::Reply(fmt::format("ASK {} {}", call.slot, target));
}

}  // namespace cairn
