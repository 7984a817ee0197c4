// SPDX-License-Identifier: BSD-3-Clause
//
// Key rows: the rows of one key as bytes that another Cairn of the same format stores as its own (docs/format.md,
// section 11). The type of the value does not matter, and no value is decoded.
//
// A large value is several pieces, so that neither server holds it in memory at once, and no commit is large.
//
//   piece = record_size:varint record rows
//   row   = space:u8 suffix_size:varint suffix value_size:varint value
//
// The first piece has the record; in the others record_size is 0. `space` is 2 (elements) or 3 (scores), and the suffix
// is the row key without the collection id. The receiver gives the collection a new id, which replaces the one in the
// record, and derives the owner row and the expiry rows from the record.
//
// Thread: that of the transaction.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "encoding/record.h"
#include "types/keyspace.h"

namespace cairn {

// Calls emit(piece) for each piece of the key, of about `piece_bytes` unless a row is larger. The record is that of the
// key's row.
Status EmitKeyRows(Keyspace& keyspace, const Key& key, const Record& record, size_t piece_bytes,
                   const std::function<Status(std::string_view piece)>& emit);

// Stores a piece. The first one replaces the key. kCorruption if the bytes are not a piece. REQUIRES: the key's stripe
// is locked, and no client reads the key before its last piece.
Status StoreKeyRows(Keyspace& keyspace, const Key& key, std::string_view piece);

}  // namespace cairn
