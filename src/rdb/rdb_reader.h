// SPDX-License-Identifier: BSD-3-Clause
//
// RdbReader: reads the parts of values in RDB payloads: lengths, texts, scores (rdb/rdb_format.h).
//
// The bytes are either all in memory, or come from a source, a file or a socket, as needed. From a source, bytes that
// were read stay in memory until Release, so a reader of many values holds the bytes of one.
//
// The input is not trusted. Before any allocation, a length is checked against the bytes that are left, a text against
// the limit, and the claimed size of a compressed text against the size its bytes can expand to and against the memory
// that is left. Errors are kCorruption with the reason.
//
// The types of Redis and Valkey have the same numbers with different meanings, so the reader knows its dialect
// (rdb/rdb_dialect.h). It also keeps the names of fields that a file gives once for many hashes.
//
// Thread: that of its user. The bytes must outlive the reader and its results.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rdb/byte_reader.h"
#include "rdb/rdb_dialect.h"
#include "rdb/rdb_items.h"

namespace cairn {

// Reads between one and `most` bytes into `into`; returns 0 at the end.
using RdbSource = std::function<Result<size_t>(char* into, size_t most)>;

class RdbReader {
 public:
  // `most_text_bytes` is the limit for a decompressed text.
  RdbReader(std::string_view bytes, uint64_t most_text_bytes, RdbDialect dialect = RdbDialect::kRedis)
      : bytes_(bytes), most_text_bytes_(most_text_bytes), dialect_(dialect) {}
  RdbReader(RdbSource source, uint64_t most_text_bytes)
      : bytes_({}), most_text_bytes_(most_text_bytes), source_(std::move(source)) {}

  // The bytes left; the maximum for a source.
  size_t left() const { return source_ ? SIZE_MAX : bytes_.left(); }

  // ---- from a source
  // Frees the bytes read so far.
  void Release();
  // The checksum of all bytes read so far.
  uint64_t Checksum();
  uint64_t position() const { return received_ - bytes_.left(); }

  RdbDialect dialect() const { return dialect_; }
  void set_dialect(RdbDialect dialect) { dialect_ = dialect; }
  // The limit for the memory of a document that is parsed from a text.
  uint64_t most_parsed_bytes() const { return most_parsed_bytes_; }
  void set_most_parsed_bytes(uint64_t bytes) { most_parsed_bytes_ = bytes; }
  // Limits the memory of compressed texts and of the items in them (Keep). At first unlimited.
  void set_most_kept_bytes(uint64_t bytes) { most_kept_bytes_ = bytes; }
  // What they take, including the part that exceeded the limit.
  uint64_t kept_bytes() const { return kept_bytes_; }
  // Counts such bytes; an error if they exceed the limit.
  Status Keep(uint64_t bytes);
  // The names of fields that hashes refer to by a number, in the order of their values. Pointers stay valid.
  using FieldNames = std::vector<std::string>;
  // Returns false if the number has names already.
  bool AddFieldNames(uint64_t number, FieldNames names) { return names_.emplace(number, std::move(names)).second; }
  // Returns null if no record gave the names.
  const FieldNames* FindFieldNames(uint64_t number) const;
  // Counts parts that were read and that Cairn cannot keep, by what they are.
  void NoteSkipped(std::string_view what) { ++skipped_[std::string(what)]; }
  const std::map<std::string, uint64_t>& skipped() const { return skipped_; }

  Result<uint8_t> Byte();
  Result<std::string_view> Bytes(uint64_t size);
  // Reads a little-endian integer of eight bytes.
  Result<int64_t> Fixed64();
  Result<uint64_t> Length();
  // Reads the number of parts that follow, each of `least_bytes` or more; an error if they cannot fit.
  Result<uint64_t> Count(uint64_t least_bytes);
  // Reads a text and adds it to `items`.
  Status Text(RdbItems& items);
  // Reads a text that holds a whole collection. `items` keeps its bytes if they are not in the payload.
  Result<std::string_view> Blob(RdbItems& items);
  // Reads a score, as eight bytes or as digits; NaN is an error.
  Result<double> BinaryScore();
  Result<double> DigitsScore();

 private:
  // The size of a text, or its special form.
  struct Head {
    bool special = false;
    uint64_t value = 0;
  };
  Result<Head> ReadHead();
  // Makes `size` bytes available, if the source has so many.
  void Need(uint64_t size) {
    if (source_ && bytes_.left() < size) Refill(size);
  }
  void Refill(uint64_t size);
  Status CutShort();
  Result<std::string_view> TakeText(uint64_t size);
  Result<std::string_view> Unfold(RdbItems& items);

  ByteReader bytes_;
  uint64_t most_text_bytes_;
  uint64_t most_parsed_bytes_ = UINT64_MAX;
  uint64_t most_kept_bytes_ = UINT64_MAX;
  uint64_t kept_bytes_ = 0;
  RdbDialect dialect_ = RdbDialect::kRedis;
  std::map<uint64_t, FieldNames> names_;
  std::map<std::string, uint64_t> skipped_;

  const RdbSource source_;
  std::deque<std::string> chunks_;  // the last one is being read
  Status source_status_;
  uint64_t received_ = 0;
  uint64_t crc_ = 0;   // of all chunks, up to...
  size_t summed_ = 0;  // ...this offset in the last one
  bool at_end_ = false;
};

// Adds context to the error of a container, in Redis's words: "Hash ziplist integrity check failed: " and the reason.
Status BrokenContainer(std::string_view container, Status status);

}  // namespace cairn
