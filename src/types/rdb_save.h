// SPDX-License-Identifier: BSD-3-Clause
//
// Saving: the value of a key as RDB, in the encoding Redis 7.0 would have for it.
//
// A packed hash or sorted set becomes a listpack, a set of integers an intset, a list a quicklist
// whose nodes are cut where Redis cuts a list that was pushed item by item; the rest are elements
// one after another.
//
// A type is a row of a table in rdb_save.cc. Thread: the transaction's.
#pragma once

#include "base/result.h"
#include "rdb/rdb_writer.h"
#include "types/keyspace.h"

namespace cairn {

// Writes the type and the value. REQUIRES: `entry` was found under `key` and exists.
Status SaveRdbValue(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer);

}  // namespace cairn
