// SPDX-License-Identifier: BSD-3-Clause
//
// Loading: a value that was read from RDB becomes the value of a key.
//
// It takes the form Redis would give it: by all limits when it came element by element, by the
// number of elements alone when it came packed.
//
// A type is a row of a table in rdb_load.cc. Thread: the transaction's.
#pragma once

#include "base/result.h"
#include "rdb/rdb_value.h"
#include "types/keyspace.h"

namespace cairn {

// Stores `value` under `key`, without an expiry, in place of whatever `entry` saw. REQUIRES: the
// key's stripe is locked.
Status LoadRdbValue(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value);

// Adds a piece of a value (RdbValueReader) to the pieces before it, which are all that is under `key`. kCorruption: an
// element was in one of those. REQUIRES: the key's stripe is locked, the type is one that has parts.
Status AddRdbPiece(Keyspace& keys, const Key& key, const RdbValue& piece);

}  // namespace cairn
