// SPDX-License-Identifier: BSD-3-Clause
//
// Staging: a second set of keyspaces, one for each database, that is filled while the databases go on serving and
// then takes their place in one commit (a replica's first transfer, DEBUG RELOAD). Until then nobody sees it, and
// after a crash it is garbage that compaction drops.
//
// One at a time: kIo when another is under way. Who began one ends it. DatabaseChanges::AdoptStaged puts it in the
// place of the databases' own keyspaces.
//
// Thread: any, except where a function says otherwise.
#pragma once

#include <vector>

#include "base/result.h"
#include "cache/row_cache.h"
#include "encoding/row_key.h"
#include "storage/row_files.h"

namespace cairn {

class Store;
class Transaction;

class Staging {
 public:
  explicit Staging(Store& store) : store_(store) {}

  Status Begin(Transaction& txn);
  // The same with keyspaces, one for each database, whose rows have numbers that another server gave them
  // (storage/row_files.h). `next` is above all of them, `first` the lowest number of theirs. kIo when numbers from
  // `first` on have been used here since FreeNumbers was asked, or another staging is under way. What had left the key
  // cache by then.
  Result<RowCache::Departures> Begin(Transaction& txn, const std::vector<KeyspaceId>& keyspaces,
                                     const RowNumbers& first, const RowNumbers& next);
  // Puts rows of those numbers into the key cache, as long as nothing has to leave for them; whether all are in it.
  // REQUIRES: they are staged, and nobody writes one.
  Result<bool> Cache(const RowNumbers& first, const RowNumbers& next);
  // The numbers from which on none was ever used.
  RowNumbers FreeNumbers() const;
  // Drops the staged keyspaces if they were not adopted. No-op when none are staged.
  void End();

 private:
  // The rest of Begin, under all stripes: these keyspaces are alive from now on.
  Status Stage(Transaction& txn, const std::vector<KeyspaceId>& keyspaces);

  Store& store_;
};

}  // namespace cairn
