// SPDX-License-Identifier: BSD-3-Clause
//
// RdbValue: one value out of an RDB payload, whichever of Redis's encodings it came in.
//
// A type is a row of a table in rdb_value.cc: its number and the functions that read it. What a value that is read
// whole is made of is checked here and nowhere else: something in it (but see IsOfNothing), no member or field twice,
// a score for every member. Only streams check themselves (rdb/rdb_stream.h).
//
// Most types are parts one after another: elements, or nodes of a list or a stream. Those may be read some at a time
// (RdbValueReader); whether a member comes twice is then for who stores them to see.
//
// Thread: that of its user. The payload must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "encoding/record.h"
#include "rdb/rdb_items.h"
#include "rdb/rdb_reader.h"
#include "rdb/rdb_stream.h"

namespace cairn {

struct RdbValue {
  Type type = Type::kNone;
  // It came packed: Redis then keeps it packed while the number of elements allows, however long
  // they are.
  bool was_packed = false;
  // A string's text, a list's items, a set's or sorted set's members, or a hash's fields and values
  // in turn.
  RdbItems items;
  std::vector<double> scores;  // of the members of a sorted set
  // When each field of a hash is gone, kNoExpiry for one that stays. Empty: all stay.
  std::vector<int64_t> deadlines;
  int64_t earliest_ms = 0;            // of type kHashWithTimes, what the deadlines were told from
  std::unique_ptr<RdbStream> stream;  // of a stream, which has no items

  // A collection without elements. Redis has no such keys, but some of its versions wrote them to files.
  bool IsOfNothing() const { return items.empty() && stream == nullptr; }
  void DropParts();
};

// How much is read at once: so many parts, and bytes until they are so many, the last part's all counted.
struct PieceLimits {
  uint64_t parts = UINT64_MAX;
  size_t bytes = SIZE_MAX;
};

struct RdbTypeRow;

// Reads one value, piece by piece.
class RdbValueReader {
 public:
  // Whether values of the type consist of parts; if not, a piece is all of it.
  static bool HasParts(uint8_t number);
  // Of what follows the type `number`. The reader must outlive it.
  static Result<RdbValueReader> Make(uint8_t number, RdbReader& reader);

  // Reads the next piece, of one part or more, in place of the one before. REQUIRES: !at_end().
  Status ReadPiece(PieceLimits limits);
  bool at_end() const { return parts_left_ == 0; }
  const RdbValue& piece() const { return value_; }
  RdbValue Take() { return std::move(value_); }

 private:
  RdbValueReader(const RdbTypeRow& row, RdbReader& reader) : row_(&row), reader_(&reader) {}
  Status ReadParts(PieceLimits limits);
  Status ReadHead();

  const RdbTypeRow* row_;
  RdbReader* reader_;
  std::optional<uint64_t> parts_left_;  // none: nothing was read
  RdbValue value_;
};

// Reads a type and the value that follows. kCorruption: it is none.
Result<RdbValue> ReadRdbValue(RdbReader& reader);
// Reads what follows the type `number`, in a file behind the key. It may be of nothing.
Result<RdbValue> ReadRdbValue(uint8_t number, RdbReader& reader);
}  // namespace cairn
