// SPDX-License-Identifier: BSD-3-Clause
//
// Copy: the value of one key under another, for every type alike.
//
// Whatever is one record is written again as it is. A spread collection gets an id of its own and every row filed
// under the old id is put under the new one as well; what the rows mean matters nowhere here.
//
// Thread: the transactions' (both keyspaces are of one).
#pragma once

#include "base/result.h"
#include "types/keyspace.h"

namespace cairn {

// Writes `source`'s value and expiry under `target`, replacing what `target_entry` saw. REQUIRES: the source exists;
// the stripes of both keys are locked; `source_key` and `source` are of `to`'s transaction.
Status CopyValue(const Key& source_key, const KeyEntry& source, Keyspace& to, const Key& target,
                 const KeyEntry& target_entry);

}  // namespace cairn
