// SPDX-License-Identifier: BSD-3-Clause
//
// RdbValue: one value from an RDB payload, in any of Redis's encodings.
//
// A type's row (types/value_type.h) has its encodings: their numbers and the functions that read them. A value that is
// read as a whole is checked here and nowhere else: it is not empty (but see IsOfNothing), has no member or field
// twice, and has a score for every member. Only streams have their own checks (rdb/rdb_stream.h).
//
// Most types are a sequence of parts: elements, or nodes of a list or a stream. Parts may be read some at a time
// (RdbValueReader); then the code that stores them detects duplicate members.
//
// Thread: that of its user. The payload must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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
  // The payload was packed: Redis then keeps it packed while the number of elements allows, however long they are.
  bool was_packed = false;
  // A string's text, a list's items, the members of a set or sorted set, or a hash's fields and values, alternating.
  RdbItems items;
  std::vector<double> scores;  // of a sorted set's members
  // The expiry time of each field of a hash, kNoExpiry for a field without one. Empty: no field expires.
  std::vector<int64_t> deadlines;
  int64_t earliest_ms = 0;            // kHashWithTimes: the base of the deadlines
  uint64_t cells_bytes = 0;           // of a sketch: the size of its cells
  std::unique_ptr<RdbStream> stream;  // of a stream, which has no items
  // Of a filter: its header, and the length of its bytes. Its items are pieces of these: offset, text, offset, text ...
  std::string head;
  uint64_t length = 0;

  // Returns whether a collection has no elements. Redis has no such keys, but some of its versions wrote them to files.
  bool IsOfNothing() const { return items.empty() && stream == nullptr && head.empty(); }
  PackRule pack_rule() const { return was_packed ? PackRule::kCountOnly : PackRule::kAllLimits; }
  void DropParts();
};

using ReadStep = Status (*)(RdbReader& reader, RdbValue& value);

// One of a type's encodings: the functions that read the bytes before the number of parts, each part, and the bytes
// behind the parts. A value of a single part has no number of parts.
struct RdbForm {
  RdbType number;
  ReadStep read_part;
  uint64_t least_part_bytes = 0;    // 0: a single part
  std::string_view container = {};  // Redis's name of the container
  ReadStep begin = nullptr;
  ReadStep end = nullptr;
};

// Readers of parts that several types share.
Status ReadRdbText(RdbReader& reader, RdbValue& value);
Status ReadRdbPair(RdbReader& reader, RdbValue& value);
// Reads a collection that is packed into one text, with one of the functions that decode such a text.
template <Status (*kRead)(std::string_view bytes, RdbItems& items)>
Status ReadPacked(RdbReader& reader, RdbValue& value) {
  value.was_packed = true;
  return kRead(TRY(reader.Blob(value.items)), value.items);
}
inline Status ElementTwice() { return Status::Corruption("rdb: a duplicate element"); }

// The size of a piece: up to this many parts, and no further part once the piece has this many bytes.
struct PieceLimits {
  uint64_t parts = UINT64_MAX;
  size_t bytes = SIZE_MAX;
};

// Reads one value in pieces.
class RdbValueReader {
 public:
  // Whether values of the encoding consist of parts; if not, the whole value is one piece.
  static bool HasParts(RdbType number);
  // Reads what follows the encoding's `number`. The reader must outlive this object.
  static Result<RdbValueReader> Make(RdbType number, RdbReader& reader);

  // Reads the next piece, of at least one part, and replaces the previous one. REQUIRES: !at_end().
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
  std::optional<uint64_t> parts_left_;  // none: nothing was read yet
  RdbValue value_;
};

// Writes the RDB type and the value. The command uses the memory of a payload (CommandMemory). REQUIRES:
// `entry` was found under `key` and exists.
Status SaveRdbValue(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer);
// Stores `value` under `key`, without an expiry, in place of what `entry` saw. REQUIRES: the key's stripe is locked.
Status LoadRdbValue(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value);

// Reads an encoding's number and the value. Returns kCorruption with the type's name if we cannot read it.
Result<RdbValue> ReadRdbValue(RdbReader& reader);
// Reads the value of the encoding `number`; in a file it is behind the key. The value may be empty (IsOfNothing).
Result<RdbValue> ReadRdbValue(RdbType number, RdbReader& reader);

}  // namespace cairn
