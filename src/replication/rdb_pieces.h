// SPDX-License-Identifier: BSD-3-Clause
//
// Pieces: loads a collection whose RDB form lists its elements or nodes one by one, so that only one piece of it is in
// memory: some elements of limited size, or one element. A collection that fits into one piece is loaded whole.
//
// RDB forms that hold a whole collection in one string (listpacks and the like) are small and not handled here.
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

// Callbacks around each piece. The first locks the key and begins a command.
struct PieceSteps {
  std::function<Status()> begin;
  std::function<Status()> end;
};

// Whether a value of this RDB type is loaded in pieces.
bool ComesInPieces(RdbType type);

// Reads the value that follows, of any type, and keeps nothing of it.
Status PassPieces(RdbType type, RdbReader& reader);

// Loads the value that follows into a key that does not exist. REQUIRES: ComesInPieces(type).
Status LoadPieces(RdbType type, RdbReader& reader, Keyspace& keys, const Key& key, const PieceSteps& steps);

}  // namespace cairn
