// SPDX-License-Identifier: BSD-3-Clause
//
// RdbWriter: appends the parts of values in RDB payloads (rdb/rdb_format.h) as Redis does: the digits of an integer as
// an integer; a text of more than 20 bytes compressed if that saves at least four.
//
// In a file (replication/rdb_file_writer.h) the key is between a value's type and the value, and a large value is
// flushed while it is being written; see `RdbFilePart`.
//
// Thread: that of the buffer's owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "rdb/rdb_dialect.h"
#include "rdb/rdb_format.h"

namespace cairn {

// Settings for a value in a file.
struct RdbFilePart {
  std::string_view key;                     // of the value being written
  bool folds = true;                        // whether to compress long texts
  RdbDialect dialect = RdbDialect::kRedis;  // of the file
  std::function<void(std::string&)> spill;  // takes the bytes written so far
};

class RdbWriter {
 public:
  explicit RdbWriter(std::string& out, const RdbFilePart* part = nullptr) : out_(out), part_(part) {}

  // Whether the value is written as a payload, which is in memory as a whole.
  bool is_payload() const { return part_ == nullptr; }
  // A collection in a file with more elements or bytes is written while it is read, so its count is needed first.
  uint64_t most_elements_held() const { return part_ != nullptr ? kMostElementsHeld : UINT64_MAX; }
  size_t most_bytes_held() const { return part_ != nullptr ? kMostBytesHeld : SIZE_MAX; }

  // Whose types to write. A DUMP payload has those of Redis.
  RdbDialect dialect() const { return part_ != nullptr ? part_->dialect : RdbDialect::kRedis; }

  void Type(RdbType type) {
    out_.push_back(static_cast<char>(static_cast<uint16_t>(type) % kValkeyType));
    if (part_ != nullptr) Text(part_->key);
  }
  void Length(uint64_t length);
  void Text(std::string_view text);
  void BinaryScore(double score);
  // Appends a little-endian integer of eight bytes.
  void Fixed64(int64_t value);
  // Appends the output of another writer.
  void Raw(std::string_view bytes) {
    out_.append(bytes);
    Spill();
  }

 private:
  bool IntegerText(std::string_view text);
  bool FoldedText(std::string_view text);

  static constexpr uint64_t kMostElementsHeld = 4096;
  static constexpr size_t kMostBytesHeld = 1 << 20;
  static constexpr size_t kSpillBytes = 256 * 1024;
  void Spill() {
    if (part_ != nullptr && out_.size() >= kSpillBytes) part_->spill(out_);
  }

  std::string& out_;
  const RdbFilePart* const part_;
};

}  // namespace cairn
