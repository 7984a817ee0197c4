// SPDX-License-Identifier: BSD-3-Clause
//
// Whether data may be changed at all, independent of the user's rules. Thread: the session's worker.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "command/access.h"
#include "command/conditions.h"
#include "command/session.h"
#include "command/table.h"
#include "storage/disk_reserve.h"
#include "storage/store.h"

namespace cairn {

inline constexpr std::string_view kReadOnlyText = "READONLY You can't write against a read only replica.";
inline constexpr std::string_view kTooFewReplicasText = "NOREPLICAS Not enough good replicas to write.";
inline constexpr std::string_view kStaleText =
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";

inline constexpr std::string_view kLowOnDiskText =
    "MISCONF The disk is full up to min-free-disk, and this command may need more of it. Commands that delete, and "
    "COMPACT, are accepted.";
inline constexpr std::string_view kFullDiskText =
    "MISCONF The disk is full and most of min-free-disk is used. Only FLUSHALL, FLUSHDB and COMPACT are accepted.";

inline constexpr std::string_view kOomText = "OOM command not allowed when used memory > 'maxmemory'.";

// Checks the client and the store. The error is the client's reply.
inline Status CheckWritable(const Session& session, Store& store) {
  if (session.socket.read_only) return Status::Reply(kReadOnlyText);
  if (!store.recovery().writable()) {
    return Status::Reply("MISCONF Errors writing to the AOF file: " + store.recovery().write_error());
  }
  return Ok();
}

// Checks the server's state. The error is the client's reply.
inline Status CheckWritable(const Conditions& conditions) {
  if (conditions.Has(kTooFewReplicas)) return Status::Reply(kTooFewReplicasText);
  if (conditions.Has(kReadOnlyReplica)) return Status::Reply(kReadOnlyText);
  return Ok();
}

// Checks the free space on the disk. `empties`: the command only empties databases.
inline Status CheckRoom(const Conditions& conditions, Store& store, bool grows, bool empties) {
  const bool is_full = conditions.Has(kFullDisk);
  if (is_full && empties) store.engine().disk_reserve().LetGo();
  if (is_full ? empties : !grows) return Ok();
  store.counters().refused_for_room.Add();
  return Status::Reply(is_full ? kFullDiskText : kLowOnDiskText);
}

inline bool IsInMemory(Store& store, int db) {
  return ModeOfKeyspace(store.databases()[db].keyspace) == StorageMode::kMemory;
}
// Whether the data has reached its limit, of databases in memory or on disk.
inline bool IsOutOfMemory(const Conditions& conditions, Store& store, int db) {
  return conditions.Has(IsInMemory(store, db) ? kFullMemory : kFullData);
}
// Checks the limit of the database to which the call adds data: the target of COPY, the target of MOVE if the rows move
// to memory or from it, and otherwise `db`, in which the call runs.
inline Status CheckMemory(const Conditions& conditions, Store& store, const Command& command,
                          std::span<const std::string_view> argv, int db) {
  if (!conditions.Has(kFullMemory | kFullData)) return Ok();
  const int target = NamedDatabase(command, argv, store.databases().size()).value_or(db);
  const bool moves_rows = command.full_name() == "move" && IsInMemory(store, target) != IsInMemory(store, db);
  const bool grows = command.Has(kDenyOom) || moves_rows;
  return grows && IsOutOfMemory(conditions, store, target) ? Status::Reply(kOomText) : Ok();
}

}  // namespace cairn
