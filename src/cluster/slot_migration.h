// SPDX-License-Identifier: BSD-3-Clause
//
// SlotMigration: one atomic migration of ranges of slots, as one of its two nodes sees it, and MigrationList, the
// running ones and some that have ended (CLUSTER GETSLOTMIGRATIONS).
//
// The names of the states are those of Valkey 9.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "bus/node_id.h"
#include "bus/slot_set.h"

namespace cairn {

namespace migration_state {
inline constexpr std::string_view kConnecting = "connecting";
inline constexpr std::string_view kEstablishing = "reading-establish-response";
inline constexpr std::string_view kSnapshotting = "snapshotting";
inline constexpr std::string_view kReplicating = "replicating";
inline constexpr std::string_view kPaused = "failover-paused";
inline constexpr std::string_view kGranted = "failover-granted";
inline constexpr std::string_view kReceiving = "receiving-snapshot";
inline constexpr std::string_view kWaitingForPaused = "waiting-for-paused";
inline constexpr std::string_view kCleaningUp = "cleaning-up";
inline constexpr std::string_view kSuccess = "success";
inline constexpr std::string_view kFailed = "failed";
inline constexpr std::string_view kCancelled = "cancelled";
}  // namespace migration_state

// The target takes the slots over within this time after it has received PAUSED, or not at all.
inline constexpr int64_t kLongestTakeOverMs = 10000;

struct SlotMigration {
  std::string name;  // 40 hex digits
  bool is_import = false;
  std::vector<SlotRange> ranges;  // as given
  NodeId source;
  NodeId target;
  int64_t created_s = 0;  // Unix times
  int64_t updated_s = 0;
  int64_t acked_s = 0;  // when the other node was heard of last
  std::string_view state;
  std::string message;  // why it failed

  bool has_ended() const {
    return state == migration_state::kSuccess || state == migration_state::kFailed ||
           state == migration_state::kCancelled;
  }
  // Nothing more is sent or received.
  bool is_over() const { return has_ended() || state == migration_state::kCleaningUp; }
  SlotSet slots() const {
    SlotSet set;
    for (const SlotRange& range : ranges) {
      for (int slot = range.first; slot <= range.last; ++slot) set.Add(slot);
    }
    return set;
  }
  std::string RangesText() const {
    std::string text;
    for (const SlotRange& range : ranges) {
      if (!text.empty()) text += ' ';
      text += std::to_string(range.first) + "-" + std::to_string(range.last);
    }
    return text;
  }
};

class MigrationList {
 public:
  void Add(SlotMigration migration) {
    const MutexLock lock(mutex_);
    migration.created_s = migration.updated_s = migration.acked_s = WallMs() / kMsPerSecond;
    Log(LogSeverity::kNotice, "Slot migration {}: {} of slots {}", migration.name,
        migration.is_import ? "import" : "export", migration.RangesText());
    migrations_.push_front(std::move(migration));
    while (migrations_.size() > kMostKept && migrations_.back().has_ended()) migrations_.pop_back();
  }
  void SetState(const std::string& name, std::string_view state, std::string message = {}) {
    const MutexLock lock(mutex_);
    for (SlotMigration& each : migrations_) {
      if (each.name != name || each.has_ended()) continue;
      Log(LogSeverity::kNotice, "Slot migration {}: {} -> {}{}{}", name, each.state, state, message.empty() ? "" : ": ",
          message);
      each.state = state;
      each.updated_s = WallMs() / kMsPerSecond;
      if (!message.empty()) each.message = std::move(message);
    }
  }
  void NoteAck(const std::string& name) {
    const MutexLock lock(mutex_);
    for (SlotMigration& each : migrations_) {
      if (each.name == name) each.acked_s = WallMs() / kMsPerSecond;
    }
  }
  // The newest first.
  std::vector<SlotMigration> All() const {
    const MutexLock lock(mutex_);
    return {migrations_.begin(), migrations_.end()};
  }

 private:
  static constexpr size_t kMostKept = 1000;
  static constexpr int64_t kMsPerSecond = 1000;

  mutable Mutex mutex_;
  std::deque<SlotMigration> migrations_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn
