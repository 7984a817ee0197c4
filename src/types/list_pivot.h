// SPDX-License-Identifier: BSD-3-Clause
//
// Where in a spread list an item stands, by its value: what LINSERT looks for.
//
// The chunks near the head are read. Behind them the list's signatures (storage/chunk_signatures.h) name those that may
// hold the item. The first look far into a list reads it up to the item and notes what it has passed; later ones read
// the chunks that are named, and behind the noted ones the rest. Where there is no memory for signatures all looks are
// like the first one.
//
// Thread: the transaction's. A look takes the key's lock, a note needs it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "encoding/packed.h"
#include "types/list_walk.h"

namespace cairn {

// The number of the first chunk that holds `wanted`; none when no chunk does.
Result<std::optional<int64_t>> FindChunkWith(Transaction& txn, const ListRows& rows, const Item& wanted);

// A chunk was written. REQUIRES: the key's stripe is held.
void NoteChunkWritten(Transaction& txn, const ListRows& rows, int64_t seq);

}  // namespace cairn
