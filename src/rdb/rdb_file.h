// SPDX-License-Identifier: BSD-3-Clause
//
// The structure of an RDB file around its values (rdb/rdb_format.h has values, lengths and texts):
//
//   file        magic, records, ff crc:u64 little-endian
//               the CRC is of all before it, 0 when none was taken; below version 5 it is not there
//   magic       "REDIS" version:four digits, or "VALKEY" version:three digits
//
//   record      f2 number:length n:length, n texts         names of fields (version 15 of Redis): hashes that follow
//                                                          refer to them by the number
//               f3 n:length, n times: class:u32, data      metadata of modules about the next key (version 13 of
//                                                          Redis); the data has the form of a module's aux data
//               fa name:text value:text                    aux: properties of the file and its writer
//               f4 slot:length keys:length expiring:length   size of a cluster slot (version 12), a hint
//               f5 code:text                               a library of functions (version 10)
//               f6 name, engine, has_description:length [description], code   the same, of a
//                                                          release candidate of Redis 7.0
//               f7 module ...                              aux data of a module
//               fe db:length                               the database of the following keys
//               fb keys:length expiring:length             the database's number of keys, a hint
//               fd expires_s:u32 / fc expires_ms:u64       of the next key, little-endian
//               f8 idle_s:length / f9 frequency:u8         of the next key
//               type:u8 key:text value                     a key
#pragma once

#include <cstdint>
#include <string_view>

namespace cairn {

enum class RdbOpcode : uint8_t {
  kHashTemplate = 0xf2,  // of Redis; Valkey 9.2: a command
  kKeyMetadata = 0xf3,   // of Redis; Valkey 9.0: the import of a cluster slot
  kSlotInfo = 0xf4,
  kFunction = 0xf5,
  kFunctionPreview = 0xf6,
  kModuleAux = 0xf7,
  kIdle = 0xf8,
  kFrequency = 0xf9,
  kAux = 0xfa,
  kResizeDb = 0xfb,
  kExpireMs = 0xfc,
  kExpireS = 0xfd,
  kSelectDb = 0xfe,
  kEnd = 0xff,
};

inline constexpr std::string_view kRdbMagic = "REDIS";
inline constexpr std::string_view kValkeyMagic = "VALKEY";
inline constexpr size_t kRdbMagicBytes = 9;  // with the version's digits
inline constexpr int kOldestRdbVersionRead = 1;
inline constexpr int kFirstRdbVersionWithCrc = 5;

// Aux fields from which a replica learns where to continue its primary's stream after the file.
inline constexpr std::string_view kAuxReplicationId = "repl-id";
inline constexpr std::string_view kAuxReplicationOffset = "repl-offset";
inline constexpr std::string_view kAuxReplicationDb = "repl-stream-db";

}  // namespace cairn
