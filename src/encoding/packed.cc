// SPDX-License-Identifier: BSD-3-Clause
#include "encoding/packed.h"

#include <bit>
#include <cmath>

#include "base/number.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr int64_t kIntegerLimit = int64_t{1} << 62;
constexpr double kScoreLimit = 9007199254740992.0;  // 2^53

bool FitsItem(int64_t value) { return value > -kIntegerLimit && value < kIntegerLimit; }

}  // namespace

Item Item::FromText(std::string_view text) {
  if (text.size() <= 20 && !text.empty() && text[0] <= '9') {
    const auto integer = ParseInt64(text);
    if (integer && FitsItem(*integer)) return Item(*integer);
  }
  return Item(text);
}

std::string_view Item::Text(std::string& scratch) const {
  if (!is_integer_) return bytes_;
  scratch.clear();
  AppendInt64(scratch, integer_);
  return scratch;
}

std::string Item::ToString() const {
  std::string scratch;
  return std::string(Text(scratch));
}

void AppendItem(std::string& out, const Item& item) {
  if (item.is_integer()) {
    AppendVarint(out, ZigZag(item.integer()) << 1 | 1);
    return;
  }
  AppendVarint(out, uint64_t{item.bytes().size()} << 1);
  out.append(item.bytes());
}

void AppendItem(std::string& out, std::string_view text) { AppendItem(out, Item::FromText(text)); }

void AppendScore(std::string& out, double score) {
  const bool integral = std::fabs(score) <= kScoreLimit && score == std::floor(score);
  if (integral && !(score == 0 && std::signbit(score))) {
    AppendVarint(out, ZigZag(static_cast<int64_t>(score)) + 1);
    return;
  }
  AppendVarint(out, 0);
  AppendU64(out, std::bit_cast<uint64_t>(score));
}

bool ReadScore(std::string_view& in, double& score) {
  uint64_t head;
  if (!ReadVarint(in, head)) return false;
  if (head != 0) {
    score = static_cast<double>(UnZigZag(head - 1));
    return true;
  }
  uint64_t bits;
  if (!ReadU64(in, bits)) return false;
  score = std::bit_cast<double>(bits);
  return !std::isnan(score);
}

Result<double> DecodeScore(std::string_view bytes) {
  double score;
  if (!ReadScore(bytes, score)) return Status::Corruption("score: cut short or not a number");
  if (!bytes.empty()) return Status::Corruption("score: followed by other bytes");
  return score;
}

PackedReader::PackedReader(std::string_view payload) : whole_(payload), rest_(payload) {
  if (!ReadVarint(rest_, count_)) Fail("packed: count is cut short");
}

bool PackedReader::Fail(std::string_view why) {
  status_ = Status::Corruption(why);
  rest_ = {};
  return false;
}

bool PackedReader::Next(Item& item) {
  if (rest_.empty()) return false;
  uint64_t head;
  if (!ReadVarint(rest_, head)) return Fail("packed: item head is cut short");
  if (head & 1) {
    item = Item(UnZigZag(head >> 1));
    return true;
  }
  const uint64_t size = head >> 1;
  if (size > rest_.size()) return Fail("packed: item is longer than the value");
  item = Item(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return true;
}

bool PackedReader::NextScore(double& score) {
  return ReadScore(rest_, score) || Fail("packed: score is cut short or not a number");
}

PackedIntegersReader::PackedIntegersReader(std::string_view payload) : rest_(payload) {
  if (!ReadVarint(rest_, count_)) status_ = Status::Corruption("packed integers: count is cut short");
}

bool PackedIntegersReader::Next(int64_t& value) {
  if (read_ == count_ || !status_.ok()) return false;
  uint64_t head;
  if (!ReadVarint(rest_, head)) {
    status_ = Status::Corruption("packed integers: fewer than their count");
    return false;
  }
  if (read_ == 0) {
    last_ = UnZigZag(head);
  } else {
    const uint64_t room = static_cast<uint64_t>(INT64_MAX) - static_cast<uint64_t>(last_);
    if (head >= room) {
      status_ = Status::Corruption("packed integers: beyond 64 bits");
      return false;
    }
    last_ = static_cast<int64_t>(static_cast<uint64_t>(last_) + head + 1);
  }
  value = last_;
  ++read_;
  return true;
}

PackedIntegersWriter::PackedIntegersWriter(uint64_t count) { AppendVarint(out_, count); }

void PackedIntegersWriter::Add(int64_t value) {
  if (first_) {
    AppendVarint(out_, ZigZag(value));
  } else {
    ASSERT(value > last_, "packed integers ascend");
    AppendVarint(out_, static_cast<uint64_t>(value) - static_cast<uint64_t>(last_) - 1);
  }
  first_ = false;
  last_ = value;
}

}  // namespace cairn
