// SPDX-License-Identifier: BSD-3-Clause
//
// RdbReader: the parts that all values in RDB payloads are made of: lengths, texts, scores
// (replication/rdb_format.h).
//
// Nothing is believed: no length is larger than what is left can hold, no text larger than the
// limit, and a compressed text may not claim more than its bytes can unfold to, before anything is
// allocated. An error is kCorruption and says what is wrong.
//
// Thread: that of its user. The bytes must outlive it and what it read.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "replication/byte_reader.h"
#include "replication/rdb_items.h"

namespace cairn {

class RdbReader {
 public:
  // `most_text_bytes`: no text may be longer once it is unfolded.
  RdbReader(std::string_view bytes, uint64_t most_text_bytes)
      : bytes_(bytes), most_text_bytes_(most_text_bytes) {}

  size_t left() const { return bytes_.left(); }

  Result<uint8_t> Byte();
  Result<std::string_view> Bytes(uint64_t size);
  // An integer of eight bytes, the least significant first.
  Result<int64_t> Fixed64();
  Result<uint64_t> Length();
  // The number of things that follow, each of `least_bytes` or more: not none, and no more than
  // there is room for.
  Result<uint64_t> Count(uint64_t least_bytes);
  // Adds a text to `items`.
  Status Text(RdbItems& items);
  // The bytes of a text that holds a whole collection; `items` may have to keep them.
  Result<std::string_view> Blob(RdbItems& items);
  // A score, as eight bytes or as digits; no NaN.
  Result<double> BinaryScore();
  Result<double> DigitsScore();

 private:
  // The size of a text, or that it is special and how.
  struct Head {
    bool special = false;
    uint64_t value = 0;
  };
  Result<Head> ReadHead();
  Result<std::string_view> TakeText(uint64_t size);
  Result<std::string_view> Unfold(RdbItems& items);

  ByteReader bytes_;
  uint64_t most_text_bytes_;
};

}  // namespace cairn
