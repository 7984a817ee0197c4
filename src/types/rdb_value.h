// SPDX-License-Identifier: BSD-3-Clause
//
// RdbValue: one value out of an RDB payload, whichever of Redis's encodings it came in.
//
// The row of a type (types/value_type.h) has the encodings: their numbers and the functions that read them. What a
// value that is read whole is made of is checked here and nowhere else: something in it (but see IsOfNothing), no
// member or field twice, a score for every member. Only streams check themselves (rdb/rdb_stream.h).
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
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "encoding/record.h"
#include "rdb/rdb_format.h"
#include "rdb/rdb_items.h"
#include "rdb/rdb_reader.h"
#include "rdb/rdb_stream.h"
#include "rdb/rdb_writer.h"
#include "types/keyspace.h"

namespace cairn {

struct ValueType;

struct RdbValue {
  Type type = Type::kNone;
  // It came packed: Redis then keeps it packed while the number of elements allows, however long they are.
  bool was_packed = false;
  // A string's text, a list's items, a set's or sorted set's members, or a hash's fields and values in turn.
  RdbItems items;
  std::vector<double> scores;  // of the members of a sorted set
  // When each field of a hash is gone, kNoExpiry for one that stays. Empty: all stay.
  std::vector<int64_t> deadlines;
  int64_t earliest_ms = 0;            // of type kHashWithTimes, what the deadlines were told from
  std::unique_ptr<RdbStream> stream;  // of a stream, which has no items

  // A collection without elements. Redis has no such keys, but some of its versions wrote them to files.
  bool IsOfNothing() const { return items.empty() && stream == nullptr; }
  PackRule pack_rule() const { return was_packed ? PackRule::kCountOnly : PackRule::kAllLimits; }
  void DropParts();
};

using ReadStep = Status (*)(RdbReader& reader, RdbValue& value);

// One of a type's encodings: what stands before the number of its parts, each part, and what stands behind them. A
// value of one part has no number of them.
struct RdbForm {
  RdbType number;
  ReadStep read_part;
  uint64_t least_part_bytes = 0;    // 0: of one part
  std::string_view container = {};  // what Redis calls what it comes in
  ReadStep begin = nullptr;
  ReadStep end = nullptr;
};

// Parts that several types have.
Status ReadRdbText(RdbReader& reader, RdbValue& value);
Status ReadRdbPair(RdbReader& reader, RdbValue& value);
// A collection packed into one text, by one of the functions that read such.
template <Status (*kRead)(std::string_view bytes, RdbItems& items)>
Status ReadPacked(RdbReader& reader, RdbValue& value) {
  value.was_packed = true;
  return kRead(TRY(reader.Blob(value.items)), value.items);
}
inline Status ElementTwice() { return Status::Corruption("rdb: an element is there twice"); }

// How much is read at once: so many parts, and bytes until they are so many, the last part's all counted.
struct PieceLimits {
  uint64_t parts = UINT64_MAX;
  size_t bytes = SIZE_MAX;
};

// Reads one value, piece by piece.
class RdbValueReader {
 public:
  // Whether values of the encoding consist of parts; if not, a piece is all of it.
  static bool HasParts(uint8_t number);
  // Of what follows the encoding's `number`. The reader must outlive it.
  static Result<RdbValueReader> Make(uint8_t number, RdbReader& reader);

  // Reads the next piece, of one part or more, in place of the one before. REQUIRES: !at_end().
  Status ReadPiece(PieceLimits limits);
  bool at_end() const { return parts_left_ == 0; }
  const RdbValue& piece() const { return value_; }
  RdbValue Take() { return std::move(value_); }

 private:
  RdbValueReader(const ValueType& type, const RdbForm& form, RdbReader& reader)
      : type_(&type), form_(&form), reader_(&reader) {}
  Status ReadParts(PieceLimits limits);
  Status ReadHead();
  Status Check() const;

  const ValueType* type_;
  const RdbForm* form_;
  RdbReader* reader_;
  std::optional<uint64_t> parts_left_;  // none: nothing was read
  RdbValue value_;
};

// Writes the RDB type and the value. REQUIRES: `entry` was found under `key` and exists.
Status SaveRdbValue(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer);
// Stores `value` under `key`, without an expiry, in place of whatever `entry` saw. REQUIRES: the key's stripe is
// locked.
Status LoadRdbValue(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value);

// Reads an encoding's number and the value that follows. kCorruption: it is none.
Result<RdbValue> ReadRdbValue(RdbReader& reader);
// Reads what follows the encoding's `number`, in a file behind the key. It may be of nothing.
Result<RdbValue> ReadRdbValue(uint8_t number, RdbReader& reader);

}  // namespace cairn
