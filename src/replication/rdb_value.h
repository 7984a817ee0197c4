// SPDX-License-Identifier: BSD-3-Clause
//
// RdbValue: one value out of an RDB payload, whichever of Redis's encodings it came in.
//
// A type is a row of a table in rdb_value.cc: its number and the function that reads it. What a
// value is made of is checked here and nowhere else: something in it (but see IsOfNothing), no member or
// field twice, a score for every member. Only streams check themselves (replication/rdb_stream.h).
//
// Thread: that of its user. The payload must outlive it.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "encoding/record.h"
#include "replication/rdb_items.h"
#include "replication/rdb_reader.h"
#include "replication/rdb_stream.h"

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
  std::unique_ptr<RdbStream> stream;  // of a stream, which has no items

  // A collection without elements. Redis has no such keys, but some of its versions wrote them to files.
  bool IsOfNothing() const { return items.empty() && stream == nullptr; }
};

// Reads a type and the value that follows. kCorruption: it is none.
Result<RdbValue> ReadRdbValue(RdbReader& reader);
// Reads what follows the type `number`, in a file behind the key. It may be of nothing.
Result<RdbValue> ReadRdbValue(uint8_t number, RdbReader& reader);
// Adds the items of a node of a list of type kListQuicklist2, of which there may be none.
Status ReadQuicklistNode(RdbReader& reader, RdbItems& items);

}  // namespace cairn
