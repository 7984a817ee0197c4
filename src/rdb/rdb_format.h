// SPDX-License-Identifier: BSD-3-Clause
//
// RDB: Redis's serialisation of values, as shared by readers and writers. DUMP and RESTORE use one value; an RDB file
// and the first transfer to a replica are a sequence of keys with values.
//
//   payload   type:u8 object, then the footer version:u16 crc:u64 (little-endian; the CRC is of all
//             before it)
//
//   length    00pppppp                        6 bits
//             01pppppp qqqqqqqq               14 bits, big-endian
//             10000000, four bytes            32 bits, big-endian
//             10000001, eight bytes           64 bits, big-endian
//             11pppppp                        no length: a text in the special form p
//   text      length, that many bytes; or, special:
//             c0 i8, c1 i16, c2 i32           an integer's digits; little-endian
//             c3 compressed:length size:length, the compressed bytes      LZF
//
// Each type is followed by:
//
//   0   string              text
//   1   list                n:length, n texts
//   2   set                 n:length, n texts
//   3   zset                n:length, n times: text, score in digits (size:u8 digits; instead of
//                           the size 253 NaN, 254 +inf, 255 -inf)
//   4   hash                n:length, n times: text (field) text (value)
//   5   zset 2              as 3, scores as eight bytes, IEEE 754, little-endian
//   9   hash zipmap         text that is a zipmap (rdb/ziplist.h)
//   10  list ziplist        text that is a ziplist, likewise 12 zset and 13 hash
//   11  set intset          text that is an intset (rdb/intset.h)
//   14  list quicklist      n:length, n texts that are ziplists
//   16  hash listpack       text that is a listpack (rdb/listpack.h), likewise 17 zset and
//                           20 set
//   18  list quicklist 2    n:length, n times: container:length text (1: the text is one item, 2:
//                           it is a listpack)
//   15  stream              n:length, n nodes, count:length last:id, m:length, m groups
//   19  stream 2            n:length, n nodes, count:length last:id first:id max_deleted:id
//                           entries_added:length, m:length, m groups
//   21  stream 3            as 19
//   26  stream 4            as 19, then d:length m:length (of idempotent production: how long, how many), n:length, n
//                           producers, added:length duplicates:length
//   27  stream 5            as 26
//   24  hash with times     earliest:i64, n:length, n times: ttl:length text (field) text (value); ttl is 0 for a
//                           field without expiry, else one more than its time less `earliest`
//   25  hash listpack ex    earliest:i64, text that is a listpack: field, value, time, ...; 0: no expiry
//   29  hash template       fields, text that is a listpack: a number, then the value of each field
//   30  hash template 2     text that is a listpack: the number of a template (rdb/rdb_file.h), then the values
//   31  hash template 3     fields, n texts: the value of each field
//   32  hash template 4     the number of a template:length, n texts: the values
//   192 JSON                text: the document as in a record (docs/format.md, section 3)
//   193 Bloom filter        text: the header (docs/format.md, section 5.6), n:length, n parts: offset:length, text: the
//                           bytes of the filter from there on; other bytes are zeros
//   194 Cuckoo filter       the same
//   195 count-min sketch    fields:text n:length, n times: page:length text (types/sketch_rdb.h)
//   196 Top-K sketch        as 195
//   197 t-digest            text: the payload as in a record (docs/format.md, section 3)
//   V22 hash with times     of Valkey: n:length, n times: text (field) text (value) time:i64; -1: no expiry
//
// The types of versions up to 11 are the same for Redis and Valkey. Newer versions of Redis are numbered from 12,
// those of Valkey from 80, and their type numbers from 22 have different meanings; V marks Valkey's. The types from 192
// on are Cairn's own, in files of both dialects. Redis and Valkey refuse them as unknown.
//
// The parts of a stream (types/stream_group.h explains the terms):
//
//   id          ms:length seq:length
//   raw id      ms:u64 seq:u64, big-endian
//   node        a text that is the raw id of the base, a text that is a listpack
//               (rdb/stream_node.h)
//   group       name:text last:id entries_read:length (-1: not known; not in type 15)
//               p:length, p pending entries, c:length, c consumers
//   pending     raw id, delivered_ms:i64 deliveries:length
//   consumer    name:text seen_ms:i64 active_ms:i64 (from type 21 on; -1: never)
//               p:length, p raw ids: which of the group's pending entries are the consumer's
//               the last consumer of a group of type 27 is followed by p:length, p raw ids: the pending entries
//               that no consumer owns
//   producer    id:text e:length, e times: id:text ms:length seq:length
//
// The fields of a hash template are 0:length and a text that is a listpack, or 1:length n:length and n texts.
//
// A zset in a ziplist or listpack is member, score, member, score ...; a hash is field, value, field, value ...
// The versions of RDB since 5 differ, for values, only in the types they know. We write the types of version 10, that
// of Redis 7.0, so that it and all later ones can read them. A hash with expiring fields is of type 24 and version 12,
// that of Redis 7.4, which introduced them; a stream with idempotent producers of type 26 and version 13, that of Redis
// 8.6; a stream with entries released by XNACK of type 27 and version 14, that of Redis 8.8.
//
// Example: the string "x" = 00 01 78, as a payload 00 01 78 0a00 and eight bytes of CRC.
#pragma once

#include <cstdint>

namespace cairn {

// Added to the numbers of Valkey's own types.
inline constexpr uint16_t kValkeyType = 256;
// The first of the types that only Cairn has.
inline constexpr uint8_t kFirstCairnType = 192;

enum class RdbType : uint16_t {
  kString = 0,
  kList = 1,
  kSet = 2,
  kZset = 3,
  kHash = 4,
  kZset2 = 5,
  kHashZipmap = 9,
  kListZiplist = 10,
  kSetIntset = 11,
  kZsetZiplist = 12,
  kHashZiplist = 13,
  kListQuicklist = 14,
  kStreamListpacks = 15,
  kHashListpack = 16,
  kZsetListpack = 17,
  kListQuicklist2 = 18,
  kStreamListpacks2 = 19,
  kSetListpack = 20,
  kStreamListpacks3 = 21,
  kHashWithTimes = 24,
  kHashListpackEx = 25,
  kStreamListpacks4 = 26,
  kStreamListpacks5 = 27,
  kHashTemplateListpack = 29,
  kHashTemplateListpackRef = 30,
  kHashTemplateArray = 31,
  kHashTemplateArrayRef = 32,
  kCairnJson = kFirstCairnType,
  kCairnBloom = kFirstCairnType + 1,
  kCairnCuckoo = kFirstCairnType + 2,
  kCairnCountMin = kFirstCairnType + 3,
  kCairnTopK = kFirstCairnType + 4,
  kCairnTDigest = kFirstCairnType + 5,
  kValkeyHashWithTimes = kValkeyType + 22,
};

inline constexpr uint16_t kRdbVersionWritten = 10;
inline constexpr uint16_t kRdbVersionWithTimes = 12;      // for hashes with expiring fields
inline constexpr uint16_t kRdbVersionWithProducers = 13;  // for streams with idempotent producers
inline constexpr uint16_t kRdbVersionWithNacked = 14;     // for streams with pending entries that have no consumer

// The first byte of a text or a length.
inline constexpr uint8_t kRdbLength14 = 0x40;
inline constexpr uint8_t kRdbLength32 = 0x80;
inline constexpr uint8_t kRdbLength64 = 0x81;
inline constexpr uint8_t kRdbSpecial = 0xc0;  // and one of:
inline constexpr uint8_t kRdbInt8 = 0;
inline constexpr uint8_t kRdbInt16 = 1;
inline constexpr uint8_t kRdbInt32 = 2;
inline constexpr uint8_t kRdbLzf = 3;

// The kinds of quicklist nodes.
inline constexpr uint64_t kQuicklistPlain = 1;
inline constexpr uint64_t kQuicklistPacked = 2;

}  // namespace cairn
