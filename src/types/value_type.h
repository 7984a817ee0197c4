// SPDX-License-Identifier: BSD-3-Clause
//
// ValueType: a type of values as one row: what the commands and files ask that take keys of any type.
//
// A type is its class in this folder (types/hash.h), its row in a file of its own (types/hash_type.cc), and its
// commands in command/. COPY, DUMP, RESTORE, SCAN, TYPE, OBJECT, MEMORY, DEBUG and RDB files ask the row and switch
// over no type (types/value_types.h finds it). They ask it once a key. A type's own commands use its class and not
// the row.
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

// What most types answer.
inline Result<int64_t> OneReference(const KeyEntry&) { return int64_t{1}; }
inline Result<uint64_t> PayloadSize(const KeyEntry& entry) { return entry.payload().size(); }

// Every function REQUIRES that the entry exists and is of the type; `entry` was found under `key`.
struct ValueType {
  Type type = Type::kNone;
  std::string_view name = {};  // that TYPE answers and SCAN takes
  uint32_t redis_number = 0;   // Redis's number of the type, a part of the digest

  // OBJECT ENCODING: Redis's name for the representation of such a value.
  std::string_view (*encoding_name)(const KeyEntry& entry) = nullptr;
  // OBJECT REFCOUNT: the references that Redis would count.
  Result<int64_t> (*references)(const KeyEntry& entry) = OneReference;
  // The bytes that DUMP reads at least, and that DEBUG OBJECT shows.
  Result<uint64_t> (*size)(const KeyEntry& entry) = PayloadSize;
  // MEMORY USAGE: the bytes of a spread value's rows, from the first `samples` of them; 0: all.
  Result<uint64_t> (*row_bytes)(Transaction& txn, const Key& key, const KeyEntry& entry,
                                uint64_t samples) = EstimateElements;
  // Whether a spread value has rows in Space::kScores too, which COPY copies.
  bool has_scores = false;
  // Adds the value (types/digest.h).
  Status (*add_to_digest)(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) = nullptr;

  // Writes the RDB type and the value, in the encoding that Redis 7.0 would have for it.
  Status (*save)(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) = nullptr;
  // Stores `value` under `key`, without an expiry, in place of whatever `entry` saw. The value takes the form that
  // Redis would give it: by all limits if it came element by element, by the number of elements alone if it came
  // packed.
  Status (*load)(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) = nullptr;
  // Adds a piece of a value (RdbValueReader) to the pieces before it, which are all that is under `key`. kCorruption:
  // an element was in one of those. Null: the type has no forms that consist of parts.
  Status (*add_piece)(Keyspace& keys, const Key& key, const RdbValue& piece) = nullptr;
  std::span<const RdbForm> rdb_forms = {};
  // Items of an element of which the first may come once (a member, a field with its value); 0: any may come again.
  size_t items_per_name = 0;
};

// Whether Redis would call the value by the name of its small encoding.
inline bool IsSmall(const KeyEntry& entry) { return entry.encoding() != Encoding::kSpread && !entry.grown(); }

}  // namespace cairn
