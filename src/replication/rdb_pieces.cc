// SPDX-License-Identifier: BSD-3-Clause
#include "replication/rdb_pieces.h"

#include "types/value_types.h"

namespace cairn {
namespace {

constexpr PieceLimits kPiece{.parts = 1024, .bytes = 1 << 20};

// A value that is complete in its first piece gets the encoding that its type chooses for it.
Status StorePiece(Keyspace& keys, const Key& key, const RdbValue& piece, bool is_whole) {
  if (!is_whole) return ValueTypeOf(piece.type).add_piece(keys, key, piece);
  if (piece.IsOfNothing()) return Ok();
  return LoadRdbValue(keys, key, TRY(keys.Find(key, Access::kPeek)), piece);
}

}  // namespace

bool ComesInPieces(RdbType type) { return RdbValueReader::HasParts(type); }

Status PassPieces(RdbType type, RdbReader& reader) {
  RdbValueReader value = TRY(RdbValueReader::Make(type, reader));
  do {
    TRY(value.ReadPiece(kPiece));
    reader.Release();
  } while (!value.at_end());
  return Ok();
}

Status LoadPieces(RdbType type, RdbReader& reader, Keyspace& keys, const Key& key, const PieceSteps& steps) {
  RdbValueReader value = TRY(RdbValueReader::Make(type, reader));
  TRY(value.ReadPiece(kPiece));
  for (const bool is_whole = value.at_end();; TRY(value.ReadPiece(kPiece))) {
    TRY(steps.begin());
    TRY(StorePiece(keys, key, value.piece(), is_whole));
    TRY(steps.end());
    reader.Release();
    if (value.at_end()) return Ok();
  }
}

}  // namespace cairn
