// SPDX-License-Identifier: BSD-3-Clause
//
// RdbWriter: appends the parts that all values in RDB payloads are made of
// (replication/rdb_format.h), in the form Redis gives them: an integer's digits as the integer, a
// text of more than 20 bytes compressed when that saves four.
//
// Thread: that of the buffer's owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "replication/rdb_format.h"

namespace cairn {

class RdbWriter {
 public:
  explicit RdbWriter(std::string& out) : out_(out) {}

  void Type(RdbType type) { out_.push_back(static_cast<char>(type)); }
  void Length(uint64_t length);
  void Text(std::string_view text);
  void BinaryScore(double score);
  // Eight bytes, the least significant first.
  void Fixed64(int64_t value);
  // Bytes that another writer wrote.
  void Raw(std::string_view bytes) { out_.append(bytes); }

 private:
  bool IntegerText(std::string_view text);
  bool FoldedText(std::string_view text);

  std::string& out_;
};

}  // namespace cairn
