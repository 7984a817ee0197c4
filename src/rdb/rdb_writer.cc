// SPDX-License-Identifier: BSD-3-Clause
#include "rdb/rdb_writer.h"

#include <lzf.h>

#include <bit>
#include <limits>

#include "base/number.h"
#include "encoding/varint.h"
#include "rdb/little_endian.h"

namespace cairn {
namespace {

constexpr size_t kMostDigits = 11;    // of an int32, with the sign
constexpr size_t kWorthFolding = 20;  // longer texts are compressed
constexpr size_t kLeastSaving = 4;

}  // namespace

void RdbWriter::Length(uint64_t length) {
  if (length < 1 << 6) {
    out_.push_back(static_cast<char>(length));
  } else if (length < 1 << 14) {
    out_.push_back(static_cast<char>(kRdbLength14 | length >> 8));
    out_.push_back(static_cast<char>(length));
  } else if (length <= std::numeric_limits<uint32_t>::max()) {
    out_.push_back(static_cast<char>(kRdbLength32));
    AppendU32(out_, static_cast<uint32_t>(length));
  } else {
    out_.push_back(static_cast<char>(kRdbLength64));
    AppendU64(out_, length);
  }
}

bool RdbWriter::IntegerText(std::string_view text) {
  if (text.size() > kMostDigits) return false;
  const auto value = ParseInt64(text);
  if (!value || *value < INT32_MIN || *value > INT32_MAX) return false;
  const bool is_8 = *value >= INT8_MIN && *value <= INT8_MAX;
  const bool is_16 = *value >= INT16_MIN && *value <= INT16_MAX;
  out_.push_back(static_cast<char>(kRdbSpecial | (is_8 ? kRdbInt8 : is_16 ? kRdbInt16 : kRdbInt32)));
  AppendLittle(out_, static_cast<uint64_t>(*value), is_8 ? 1 : is_16 ? 2 : 4);
  return true;
}

bool RdbWriter::FoldedText(std::string_view text) {
  if (text.size() <= kWorthFolding || text.size() > std::numeric_limits<unsigned>::max()) return false;
  if (part_ != nullptr && !part_->folds) return false;
  std::string folded(text.size() - kLeastSaving, '\0');
  const unsigned size = lzf_compress(text.data(), static_cast<unsigned>(text.size()), folded.data(),
                                     static_cast<unsigned>(folded.size()));
  if (size == 0) return false;
  out_.push_back(static_cast<char>(kRdbSpecial | kRdbLzf));
  Length(size);
  Length(text.size());
  out_.append(folded, 0, size);
  return true;
}

void RdbWriter::Text(std::string_view text) {
  if (!IntegerText(text) && !FoldedText(text)) {
    Length(text.size());
    out_.append(text);
  }
  Spill();
}

void RdbWriter::Fixed64(int64_t value) { AppendLittle(out_, static_cast<uint64_t>(value), 8); }

void RdbWriter::BinaryScore(double score) { AppendLittle(out_, std::bit_cast<uint64_t>(score), 8); }

}  // namespace cairn
