// SPDX-License-Identifier: BSD-3-Clause
//
// Copy: writes the value of one key under another key, for values of every type.
//
// A value of one record is written again unchanged. A spread collection gets a new id, and every row of the old id is
// copied under the new one. The copy does not interpret the rows.
//
// Thread: that of the transaction (both keyspaces belong to the same one).
#pragma once

#include "base/result.h"
#include "types/keyspace.h"

namespace cairn {

// Writes `source`'s value and expiry under `target`, replacing what `target_entry` saw. REQUIRES: the source exists;
// the stripes of both keys are locked; `source_key` and `source` belong to `to`'s transaction.
Status CopyValue(const Key& source_key, const KeyEntry& source, Keyspace& to, const Key& target,
                 const KeyEntry& target_entry);

// Moves the value to a name in another database: Keyspace::Move, and a copy where the storage modes differ, which costs
// as much as COPY. REQUIRES: as Keyspace::Move.
Status MoveValue(Keyspace& from, const Key& source_key, const KeyEntry& source, Keyspace& to, const Key& target);

}  // namespace cairn
