// SPDX-License-Identifier: BSD-3-Clause
//
// CollectionIds: the ids of collections that have rows of their own. None is given out twice, also across kill -9: ids
// are reserved on the disk ahead of need, and a start goes on after the reservation.
//
// Thread: any, except where a function says otherwise.
#pragma once

#include <atomic>
#include <mutex>

#include "base/result.h"
#include "encoding/row_key.h"
#include "storage/write_ahead_log.h"

namespace cairn {

class CollectionIds {
 public:
  CollectionIds(Engine& engine, const Recovery& recovery, WriteAheadLog& log)
      : engine_(engine), recovery_(recovery), log_(log) {}

  // Takes over what the disk says. Called once, before all else.
  Status Load();
  CollectionId New() { return next_.fetch_add(1, std::memory_order_relaxed); }
  // From it on none was ever given out.
  CollectionId next() const { return next_; }
  // REQUIRES: all stripes are held.
  void SkipTo(CollectionId next) { next_ = next; }
  // Notes on the disk that ids below `end` are given out; does nothing when it is noted, and notes more ahead of need.
  // kWouldWait where it `may_wait` not, kIo when the disk refuses: nothing may be filed under them then.
  Status Reserve(CollectionId end, bool may_wait);

 private:
  Status WriteReservation(CollectionId end, bool may_wait);

  Engine& engine_;
  const Recovery& recovery_;
  WriteAheadLog& log_;
  std::mutex mutex_;  // of those that write a reservation
  std::atomic<CollectionId> next_{1};
  std::atomic<CollectionId> reserved_{0};  // the disk says that ids below are given out
};

}  // namespace cairn
