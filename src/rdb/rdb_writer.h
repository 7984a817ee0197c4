// SPDX-License-Identifier: BSD-3-Clause
//
// RdbWriter: appends the parts that all values in RDB payloads are made of
// (rdb/rdb_format.h), in the form Redis gives them: an integer's digits as the integer, a
// text of more than 20 bytes compressed when that saves four.
//
// In a file (replication/rdb_file_writer.h) the key stands between a value's type and the value, and
// what has been written leaves while a large value is still being written: `RdbFilePart` says how.
//
// Thread: that of the buffer's owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "rdb/rdb_format.h"

namespace cairn {

// What a writer is told that writes a part of a file.
struct RdbFilePart {
  std::string_view key;                     // of the value being written
  bool folds = true;                        // whether long texts are compressed
  std::function<void(std::string&)> spill;  // takes what has been written so far
};

class RdbWriter {
 public:
  explicit RdbWriter(std::string& out, const RdbFilePart* part = nullptr) : out_(out), part_(part) {}

  // A collection in a file that has more elements, or takes more bytes, is written as it is read: what must be known
  // before them is to be found out first.
  uint64_t most_elements_held() const { return part_ != nullptr ? kMostElementsHeld : UINT64_MAX; }
  size_t most_bytes_held() const { return part_ != nullptr ? kMostBytesHeld : SIZE_MAX; }

  void Type(RdbType type) {
    out_.push_back(static_cast<char>(type));
    if (part_ != nullptr) Text(part_->key);
  }
  void Length(uint64_t length);
  void Text(std::string_view text);
  void BinaryScore(double score);
  // Eight bytes, the least significant first.
  void Fixed64(int64_t value);
  // Bytes that another writer wrote.
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
