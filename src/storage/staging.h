// SPDX-License-Identifier: BSD-3-Clause
//
// Staging: a second keyspace for each database. It is filled while the databases keep serving, and replaces them in
// one commit (a replica's first transfer, DEBUG RELOAD). Until then it is invisible, and after a crash it is garbage
// that compaction drops.
//
// Only one at a time: kIo while another exists. The caller of Begin must call End. DatabaseChanges::AdoptStaged puts
// the staged keyspaces in the place of the databases' own.
//
// Thread: any, except where a function says otherwise.
#pragma once

#include <vector>

#include "base/result.h"
#include "cache/row_cache.h"
#include "encoding/row_key.h"
#include "storage/hidden_slots.h"
#include "storage/row_files.h"

namespace cairn {

class Store;
class Transaction;

class Staging {
 public:
  explicit Staging(Store& store) : store_(store) {}

  Status Begin(Transaction& txn);
  // The same with given keyspaces, one per database, whose numbers another server has assigned (storage/row_files.h).
  // `first` is the lowest of these numbers and `next` is above all of them. kIo if numbers from `first` on were used
  // here since FreeNumbers was called, or if another staging exists. Returns the state of the key cache's evictions at
  // that time.
  Result<RowCache::Departures> Begin(Transaction& txn, const std::vector<KeyspaceId>& keyspaces,
                                     const RowNumbers& first, const RowNumbers& next);
  // Puts rows with these numbers into the key cache while they fit without evictions; returns whether all fitted.
  // REQUIRES: they are staged, and nothing writes them.
  Result<bool> Cache(const RowNumbers& first, const RowNumbers& next);
  // The lowest numbers such that neither they nor higher ones were ever used.
  RowNumbers FreeNumbers() const;
  // Drops the staged keyspaces if they were not adopted. No effect if none are staged.
  void End();

  // Slots whose keys are invisible, too: they are in the databases' own keyspaces.
  HiddenSlots& hidden_slots() { return hidden_slots_; }

 private:
  // The second half of Begin, with all stripes held: makes these keyspaces alive.
  Status Stage(Transaction& txn, const std::vector<KeyspaceId>& keyspaces);

  Store& store_;
  HiddenSlots hidden_slots_;
};

}  // namespace cairn
