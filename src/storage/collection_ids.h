// SPDX-License-Identifier: BSD-3-Clause
//
// CollectionIds: the ids of collections that have rows of their own. No id is used twice, not even across kill -9: ids
// are reserved on disk in advance, and a start continues after the reservation.
//
// Thread: any, except where a function says otherwise.
#pragma once

#include <atomic>

#include "base/mutex.h"
#include "base/result.h"
#include "encoding/row_key.h"
#include "storage/write_ahead_log.h"

namespace cairn {

class CollectionIds {
 public:
  CollectionIds(Engine& engine, const Recovery& recovery, WriteAheadLog& log)
      : engine_(engine), recovery_(recovery), log_(log) {}

  // Reads the reservation from disk. Called once, before all other functions.
  Status Load();
  CollectionId New() { return next_.fetch_add(1, std::memory_order_relaxed); }
  // Neither this id nor any higher one was ever used.
  CollectionId next() const { return next_; }
  // REQUIRES: all stripes are held.
  void SkipTo(CollectionId next) { next_ = next; }
  // Makes sure that the disk's reservation covers ids below `end`; extends it in advance. On an error no row may be
  // written under these ids: kWouldWait (only without `may_wait`), or kIo when the disk refuses the write.
  Status Reserve(CollectionId end, bool may_wait);

 private:
  Status WriteReservation(CollectionId end, bool may_wait) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Engine& engine_;
  const Recovery& recovery_;
  WriteAheadLog& log_;
  Mutex mutex_;  // held to write a reservation
  std::atomic<CollectionId> next_{1};
  std::atomic<CollectionId> reserved_{0};  // the reservation on disk: lower ids may be in use
};

}  // namespace cairn
