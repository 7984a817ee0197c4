// SPDX-License-Identifier: BSD-3-Clause
//
// Packed collections: a whole small collection in one value (docs/format.md, section 4, since format 1).
//
//   item      head:varint, then by its lowest bit
//               0  a string of head >> 1 bytes, which follow
//               1  an integer, zigzag in head >> 1; only for text that is the canonical form of an integer of
//                  less than 2^62 in magnitude
//   score     head:varint, then by its value
//               0  eight bytes follow: the IEEE 754 bits, u64 big-endian
//               n  an integer, zigzag in n - 1; for integral scores of up to 2^53 in magnitude, not -0.0
//   packed list      count:varint, count items
//   packed set       count:varint, count items, in insertion order
//   packed hash      count:varint, count times item (field) item (value), in insertion order
//   packed zset      count:varint, count times item (member) score, ascending by score, then by member's bytes
//   packed integers  count:varint, first:varint zigzag, then count - 1 varints: the distance from the one before,
//                    less one; ascending
//
// Example: the hash {a: 1, b: "x"} = 02 02 61 05 02 62 02 78
//
// Readers check every length against the available bytes; after a bad one, status() returns the error. Thread: any; a
// reader belongs to its user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn {

// One item as stored: an integer or bytes. Bytes point into the buffer that was read.
class Item {
 public:
  Item() = default;
  explicit Item(std::string_view bytes) : bytes_(bytes) {}
  explicit Item(int64_t integer) : is_integer_(true), integer_(integer) {}

  // The item that AppendItem stores for `text`: for comparisons without formatting.
  static Item FromText(std::string_view text);

  bool is_integer() const { return is_integer_; }
  int64_t integer() const { return integer_; }
  std::string_view bytes() const { return bytes_; }  // REQUIRES: !is_integer()

  // The text that a client sees. For an integer the text is in `scratch`, which must outlive the view.
  std::string_view Text(std::string& scratch) const;
  std::string ToString() const;

  bool operator==(const Item& other) const {
    return is_integer_ == other.is_integer_ && (is_integer_ ? integer_ == other.integer_ : bytes_ == other.bytes_);
  }

 private:
  bool is_integer_ = false;
  int64_t integer_ = 0;
  std::string_view bytes_;
};

void AppendItem(std::string& out, const Item& item);
void AppendItem(std::string& out, std::string_view text);
void AppendScore(std::string& out, double score);

// Reads a score from the front of `in`. False if it is cut short or not a number.
bool ReadScore(std::string_view& in, double& score);
// Decodes a score that takes all of `bytes`.
Result<double> DecodeScore(std::string_view bytes);

// Reads a packed list, set, hash or zset from the front: the count on construction, then items and scores in the
// type's order.
class PackedReader {
 public:
  explicit PackedReader(std::string_view payload);

  uint64_t count() const { return count_; }
  const Status& status() const { return status_; }

  // False at the end and on corruption (see status()).
  bool Next(Item& item);
  bool NextScore(double& score);

  // The offset of the next item from the payload's start.
  size_t offset() const { return whole_.size() - rest_.size(); }

 private:
  bool Fail(std::string_view why);

  std::string_view whole_;
  std::string_view rest_;
  uint64_t count_ = 0;
  Status status_;
};

// Reads packed integers, ascending.
class PackedIntegersReader {
 public:
  explicit PackedIntegersReader(std::string_view payload);
  uint64_t count() const { return count_; }
  const Status& status() const { return status_; }
  bool Next(int64_t& value);

 private:
  std::string_view rest_;
  uint64_t count_ = 0;
  uint64_t read_ = 0;
  int64_t last_ = 0;
  Status status_;
};

// Writes packed integers. REQUIRES: each value is greater than the one before.
class PackedIntegersWriter {
 public:
  explicit PackedIntegersWriter(uint64_t count);
  void Add(int64_t value);
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
  bool first_ = true;
  int64_t last_ = 0;
};

}  // namespace cairn
