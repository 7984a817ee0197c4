// SPDX-License-Identifier: BSD-3-Clause
//
// Pieces: collections of an RDB file that come element by element or node by node, loaded that way too, so that what is
// in memory is a piece: some elements, and not many bytes, or one element. One that is whole in its first piece is
// loaded as a value.
//
// The forms that hold a whole collection in one text (listpacks and the like) are small and are not here.
//
// Thread: the transaction's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.h"
#include "rdb/rdb_reader.h"
#include "types/keyspace.h"

namespace cairn {

// Called before each piece is stored: locks the key and begins a command; and after it.
struct PieceSteps {
  std::function<Status()> begin;
  std::function<Status()> end;
};

// Whether the value that follows is one to be loaded in pieces: the type alone says so.
bool ComesInPieces(uint8_t type);

// Loads the value that follows, which is such, to a key that is not there.
Status LoadPieces(uint8_t type, RdbReader& reader, Keyspace& keys, const Key& key, const PieceSteps& steps);

}  // namespace cairn
