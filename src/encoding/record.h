// SPDX-License-Identifier: BSD-3-Clause
//
// Record: the value of a key row (docs/format.md, section 3, since format 1).
//
//   offset  size  type    name        meaning
//   0       1     u8      kind        type in the low, encoding in the high four bits
//   1       1     u8      flags       bit 0: expire_ms follows; bit 1: grown (see below); bit 2: fields_expire_ms
//                                     follows; others 0
//   2       8     u64 be  expire_ms   only with flag bit 0: Unix time in ms at which the key expires
//   2 or 10 8     u64 be  fields_expire_ms   only with flag bit 2, of a hash: no field expires before
//   *       *     bytes   payload     by encoding:
//                                       raw       the string's bytes
//                                       integer   varint, zigzag
//                                       packed    encoding/packed.h
//                                       integers  encoding/packed.h, the integers of a set, ascending
//                                       spread    id:varint count:varint, then what the type adds
//
// "grown": the value exceeds, or once exceeded, a limit of Redis's small encoding, and OBJECT ENCODING returns Redis's
// name for the large one (raw, hashtable, skiplist), although the value is one row.
// Example: the string "12" that expires at 1000 = 11 01 00000000000003e8 18
//
// A decoder returns kCorruption for an unknown type, encoding or flag and for a value that is too short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "encoding/row_key.h"

namespace cairn {

enum class Type : uint8_t {
  kNone = 0,
  kString = 1,
  kList = 2,
  kSet = 3,
  kZset = 4,
  kHash = 5,
  kStream = 6,
  kJson = 7,
  kBloom = 8,
  kCuckoo = 9,
  kCountMin = 10,
  kTopK = 11,
  kTDigest = 12,
};
inline constexpr size_t kTypeCount = 12;  // without kNone

enum class Encoding : uint8_t { kRaw = 0, kInteger = 1, kPacked = 2, kIntegers = 3, kSpread = 4 };

inline constexpr int64_t kNoExpiry = -1;

struct RecordHeader {
  Type type = Type::kNone;
  Encoding encoding = Encoding::kRaw;
  bool grown = false;
  int64_t expire_ms = kNoExpiry;         // kNoExpiry, or 0 and more
  int64_t fields_expire_ms = kNoExpiry;  // of a hash with fields that expire: the earliest time or a lower bound of it
};

// Appends the header's bytes; the caller appends the payload.
void AppendRecordHeader(std::string& out, const RecordHeader& header);

struct Record {
  RecordHeader header;
  std::string_view payload;  // points into the decoded bytes
};
Result<Record> DecodeRecord(std::string_view bytes);

// The part of a spread payload that all types share; the type defines `rest`.
struct SpreadPayload {
  CollectionId id = 0;
  uint64_t count = 0;
  std::string_view rest;
};
void AppendSpreadPayload(std::string& out, CollectionId id, uint64_t count);
Result<SpreadPayload> DecodeSpreadPayload(std::string_view payload);

}  // namespace cairn
