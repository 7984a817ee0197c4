// SPDX-License-Identifier: BSD-3-Clause
//
// RdbReader: the parts that all values in RDB payloads are made of: lengths, texts, scores
// (rdb/rdb_format.h).
//
// The bytes are all there from the start, or come from a source, a file or a socket, as they are needed. Then what
// was read stays where it is until Release, so a reader of many values holds the bytes of one.
//
// Nothing is believed: no length is larger than what is left can hold, no text larger than the
// limit, and a compressed text may not claim more than its bytes can unfold to, before anything is
// allocated. An error is kCorruption and says what is wrong.
//
// Thread: that of its user. The bytes must outlive it and what it read.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rdb/byte_reader.h"
#include "rdb/rdb_items.h"

namespace cairn {

// Reads up to `most` bytes to `into`, at least one; 0 at the end.
using RdbSource = std::function<Result<size_t>(char* into, size_t most)>;

class RdbReader {
 public:
  // `most_text_bytes`: no text may be longer once it is unfolded.
  RdbReader(std::string_view bytes, uint64_t most_text_bytes) : bytes_(bytes), most_text_bytes_(most_text_bytes) {}
  RdbReader(RdbSource source, uint64_t most_text_bytes)
      : bytes_({}), most_text_bytes_(most_text_bytes), source_(std::move(source)) {}

  // What is left to read; from a source, as much as anybody could ask for.
  size_t left() const { return source_ ? SIZE_MAX : bytes_.left(); }

  // ---- from a source
  // Lets go of what was read so far.
  void Release();
  // The checksum of all that was read so far.
  uint64_t Checksum();
  uint64_t position() const { return received_ - bytes_.left(); }

  Result<uint8_t> Byte();
  Result<std::string_view> Bytes(uint64_t size);
  // An integer of eight bytes, the least significant first.
  Result<int64_t> Fixed64();
  Result<uint64_t> Length();
  // The number of things that follow, each of `least_bytes` or more: no more than there is room for.
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
  // Sees to it that `size` bytes are at hand, where there are so many.
  void Need(uint64_t size) {
    if (source_ && bytes_.left() < size) Refill(size);
  }
  void Refill(uint64_t size);
  Status CutShort();
  Result<std::string_view> TakeText(uint64_t size);
  Result<std::string_view> Unfold(RdbItems& items);

  ByteReader bytes_;
  uint64_t most_text_bytes_;

  const RdbSource source_;
  std::deque<std::string> chunks_;  // the last one is being read
  Status source_status_;
  uint64_t received_ = 0;
  uint64_t crc_ = 0;   // of what was read of all chunks up to...
  size_t summed_ = 0;  // ...here in the last one
  bool at_end_ = false;
};

// `status` as met inside a container; bad bytes are told in Redis's words: "Hash ziplist integrity check failed: "
// and what is wrong with them.
Status BrokenContainer(std::string_view container, Status status);

}  // namespace cairn
