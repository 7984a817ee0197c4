// SPDX-License-Identifier: BSD-3-Clause
//
// Listpack: Redis's encoding of a small collection in RDB payloads, since version 7.
//
//   listpack   total:u32 count:u16 entries ff   little-endian; total counts all bytes; a count of
//                                               65535 means this many or more
//   entry      0xxxxxxx                 an integer from 0 to 127
//              10nnnnnn bytes           a text of n bytes
//              110xxxxx xxxxxxxx        an integer of 13 bits, two's complement, big-endian
//              1110nnnn nnnnnnnn bytes  a text of n bytes, n big-endian
//              f0 n:u32 bytes           a text of n bytes
//              f1, f2, f3, f4           an integer of 16, 24, 32 or 64 bits follows, little-endian
//              then the entry's size in bytes so far, for walking backwards: 7 bits a byte, the
//              most significant group first, the high bit set on all but the first
//
// Example: the items 1, "a" = 0c000000 0200 01 01 81 61 02 ff, whose first entry is 01 with its size 01.
//
// Reading checks all redundant fields. Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rdb/rdb_items.h"

namespace cairn {

// Appends the entries of a listpack to `items`, which may view them. The listpack must fill `bytes`.
Status ReadListpack(std::string_view bytes, RdbItems& items);

class ListpackWriter {
 public:
  ListpackWriter();

  // Adds a text; the canonical digits of an integer are stored as the integer.
  void AddText(std::string_view text);
  void AddInteger(int64_t value);
  void Add(const Item& item);
  // Appends the entries of another listpack.
  void Append(const ListpackWriter& other);

  size_t count() const { return count_; }
  size_t size_bytes() const { return out_.size() + 1; }  // of Take's result
  std::string Take();                                    // REQUIRES: the writer is not used afterwards

 private:
  void EndEntry(size_t begin);

  std::string out_;
  size_t count_ = 0;
};

}  // namespace cairn
