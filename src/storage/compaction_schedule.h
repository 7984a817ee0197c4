// SPDX-License-Identifier: BSD-3-Clause
//
// CompactionSchedule: when a compaction of all data starts by itself.
//
// RocksDB compacts a level when it is too large, a file when its tombstones are dense or when it is old
// (storage/tuning.cc). These rules miss data that was overwritten or deleted and then rests: nothing is written that
// would push the tombstones down. The schedule makes a pass over it after a number of writes, or after some hours.
// Evictions ask for such a pass when their garbage takes too much of the disk.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>

namespace cairn {

enum class CompactionReason : unsigned char { kCommand, kWrites, kInterval, kGarbage, kSizeLimit };

// "command", "writes", "interval", "garbage" (of blob files), "size-limit" (garbage of evictions).
constexpr const char* NameOf(CompactionReason reason) {
  constexpr const char* kNames[] = {"command", "writes", "interval", "garbage", "size-limit"};
  return kNames[static_cast<int>(reason)];
}

// Minutes of the local day; the window ends before `end`, and may span midnight. Equal: the whole day.
struct CompactionWindow {
  int begin = 0;
  int end = 0;

  bool Has(int minute) const {
    if (begin == end) return true;
    return begin < end ? minute >= begin && minute < end : minute >= begin || minute < end;
  }
};

struct CompactionSchedule {
  uint64_t after_writes = 0;  // of rows; 0: never
  int64_t interval_ms = 0;    // 0: never
  CompactionWindow window;
};

// Fewer writes do not count as such: a start itself writes some rows.
inline constexpr uint64_t kLeastWritesToCompact = 100;

// Whether a compaction is due `writes` row writes and `elapsed_ms` after the last one, without regard to the window;
// sets `reason` if so.
constexpr bool IsDue(const CompactionSchedule& schedule, uint64_t writes, int64_t elapsed_ms,
                     CompactionReason& reason) {
  reason = CompactionReason::kWrites;
  if (schedule.after_writes != 0 && writes >= schedule.after_writes) return true;
  reason = CompactionReason::kInterval;
  return schedule.interval_ms != 0 && elapsed_ms >= schedule.interval_ms && writes >= kLeastWritesToCompact;
}

// The minute of the local day.
int LocalMinute(int64_t unix_ms);

}  // namespace cairn
