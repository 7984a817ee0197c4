// SPDX-License-Identifier: BSD-3-Clause
//
// ValueType: one type of values as a table row: the operations of commands and files that handle keys of any type.
//
// A type consists of its class in this folder (types/hash.h), its row in a file of its own (types/hash_type.cc), and
// its commands in command/. COPY, DUMP, RESTORE, SCAN, TYPE, OBJECT, MEMORY, DEBUG and RDB files use the row, once per
// key, and never switch over types (types/value_types.h finds it). A type's own commands use its class directly.
//
// Thread: any; rows are constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "rdb/rdb_writer.h"
#include "types/digest.h"
#include "types/keyspace.h"
#include "types/rdb_value.h"
#include "types/value_memory.h"

namespace cairn {

// The defaults for most types.
inline Result<int64_t> OneReference(const KeyEntry&) { return int64_t{1}; }
inline Result<uint64_t> PayloadSize(const KeyEntry& entry) { return entry.payload().size(); }
// The number of elements of a collection.
Result<uint64_t> ElementCount(const KeyEntry& entry);

// Every function REQUIRES that the entry exists, is of this type, and was found under `key`.
struct ValueType {
  Type type = Type::kNone;
  std::string_view name = {};  // the type's name for TYPE and SCAN
  uint32_t redis_number = 0;   // Redis's number of the type, a part of the digest

  // OBJECT ENCODING: Redis's name for the representation of such a value.
  std::string_view (*encoding_name)(const KeyEntry& entry) = nullptr;
  // OBJECT REFCOUNT: the references that Redis would count.
  Result<int64_t> (*references)(const KeyEntry& entry) = OneReference;
  // A lower bound of the bytes that DUMP reads; DEBUG OBJECT shows it.
  Result<uint64_t> (*size)(const KeyEntry& entry) = PayloadSize;
  // INFO keysizes: the last part of the field's name, and the size that it counts. Empty: the type is not counted.
  std::string_view sizes_name = {};
  Result<uint64_t> (*length)(const KeyEntry& entry) = ElementCount;
  // MEMORY USAGE: the bytes of a spread value's rows, estimated from the first `samples` rows; 0: from all.
  Result<uint64_t> (*row_bytes)(Transaction& txn, const Key& key, const KeyEntry& entry,
                                uint64_t samples) = EstimateElements;
  // Whether a spread value also has rows in Space::kScores, which COPY must copy.
  bool has_scores = false;
  // Adds the value to a digest (types/digest.h).
  Status (*add_to_digest)(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) = nullptr;

  // Writes the RDB type and the value, in the encoding that Redis 7.0 would use.
  Status (*save)(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) = nullptr;
  // Stores `value` under `key`, without an expiry, in place of what `entry` saw. The value takes the form that Redis
  // would give it: all limits apply if it came element by element, only the number of elements if it came packed.
  Status (*load)(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) = nullptr;
  // Adds a piece of a value (RdbValueReader) to the earlier pieces, which are all that `key` holds. Returns kCorruption
  // if an element was in an earlier piece. Null: the type has no encodings that consist of parts.
  Status (*add_piece)(Keyspace& keys, const Key& key, const RdbValue& piece) = nullptr;
  std::span<const RdbForm> rdb_forms = {};
  // The items per element of which the first must be unique (a member, a field with its value); 0: items may repeat.
  size_t items_per_name = 0;
};

// Whether Redis would report the small encoding of the type for this value.
inline bool IsSmall(const KeyEntry& entry) { return entry.encoding() != Encoding::kSpread && !entry.grown(); }

}  // namespace cairn
