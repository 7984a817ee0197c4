// SPDX-License-Identifier: BSD-3-Clause
#include "rdb/rdb_reader.h"

#include <lzf.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "base/number.h"
#include "isal.h"
#include "rdb/rdb_format.h"

namespace cairn {
namespace {

// The maximum expansion of LZF: a reference of three bytes copies up to 264.
constexpr uint64_t kMostUnfolding = 88;

// Size bytes that mark special scores.
constexpr uint8_t kScoreNan = 253;
constexpr uint8_t kScoreInfinity = 254;
constexpr uint8_t kScoreMinusInfinity = 255;

constexpr uint64_t kMostHeadBytes = 16;  // of a length or an integer
constexpr size_t kChunkBytes = 256 * 1024;
constexpr size_t kMostReadAtOnce = 16 << 20;  // memory grows with the bytes received, not with the announced size

}  // namespace

Status RdbReader::CutShort() {
  if (!source_status_.ok()) return std::exchange(source_status_, Ok());
  return Status::Corruption("rdb: the payload is cut short");
}

// Moves the rest of the last chunk to the front of a new one.
void RdbReader::Refill(uint64_t size) {
  if (at_end_ || !source_status_.ok()) return;
  static_cast<void>(Checksum());
  const std::string_view left = bytes_.rest();
  std::string& chunk = chunks_.emplace_back(left);
  summed_ = 0;
  while (chunk.size() < size && !at_end_) {
    const size_t had = chunk.size();
    const size_t most = std::min<uint64_t>(std::max<uint64_t>(size - had, kChunkBytes), kMostReadAtOnce);
    chunk.resize(had + most);
    Result<size_t> got = source_(chunk.data() + had, most);
    if (!got.ok()) source_status_ = std::move(got).TakeStatus();
    const size_t added = source_status_.ok() ? *got : 0;
    chunk.resize(had + added);
    received_ += added;
    at_end_ = added == 0;
  }
  bytes_ = ByteReader(chunk);
}

void RdbReader::Release() {
  while (chunks_.size() > 1) chunks_.pop_front();
}

uint64_t RdbReader::Checksum() {
  if (chunks_.empty()) return crc_;
  const size_t read = chunks_.back().size() - bytes_.left();
  crc_ = isal::Crc64Jones(std::string_view(chunks_.back()).substr(summed_, read - summed_), crc_);
  summed_ = read;
  return crc_;
}

const RdbReader::FieldNames* RdbReader::FindFieldNames(uint64_t number) const {
  const auto found = names_.find(number);
  return found == names_.end() ? nullptr : &found->second;
}

Status RdbReader::Keep(uint64_t bytes) {
  kept_bytes_ += bytes;
  return kept_bytes_ <= most_kept_bytes_ ? Ok() : Status::Corruption("rdb: the value needs too much memory");
}

Result<uint8_t> RdbReader::Byte() {
  Need(1);
  const uint8_t byte = bytes_.Byte();
  if (!bytes_.ok()) return CutShort();
  return byte;
}

Result<std::string_view> RdbReader::Bytes(uint64_t size) {
  Need(size);
  const std::string_view bytes = bytes_.Take(size);
  if (!bytes_.ok()) return CutShort();
  return bytes;
}

Result<int64_t> RdbReader::Fixed64() {
  Need(8);
  const int64_t value = bytes_.SignedLittle(8);
  if (!bytes_.ok()) return CutShort();
  return value;
}

Result<RdbReader::Head> RdbReader::ReadHead() {
  Need(kMostHeadBytes);
  const uint8_t first = bytes_.Byte();
  Head head;
  if (first < kRdbLength14) {
    head.value = first;
  } else if (first < kRdbLength32) {
    head.value = uint64_t{first & 0x3fu} << 8 | bytes_.Byte();
  } else if (first == kRdbLength32) {
    head.value = bytes_.Big(4);
  } else if (first == kRdbLength64) {
    head.value = bytes_.Big(8);
  } else if (first >= kRdbSpecial) {
    head = {.special = true, .value = first & 0x3fu};
  } else {
    return Status::Corruption("rdb: a length of unknown kind");
  }
  if (!bytes_.ok()) return CutShort();
  return head;
}

Result<uint64_t> RdbReader::Length() {
  const Head head = TRY(ReadHead());
  if (head.special) return Status::Corruption("rdb: a text where a length is expected");
  return head.value;
}

Result<uint64_t> RdbReader::Count(uint64_t least_bytes) {
  const uint64_t count = TRY(Length());
  if (count > left() / least_bytes) return CutShort();
  return count;
}

Result<std::string_view> RdbReader::TakeText(uint64_t size) {
  if (size > most_text_bytes_) return Status::Corruption("rdb: a text is too long");
  Need(size);
  const std::string_view text = bytes_.Take(size);
  if (!bytes_.ok()) return CutShort();
  return text;
}

Result<std::string_view> RdbReader::Unfold(RdbItems& items) {
  const uint64_t folded_size = TRY(Length());
  const uint64_t size = TRY(Length());
  if (folded_size > most_text_bytes_) return Status::Corruption("rdb: a text is too long");
  Need(folded_size);
  const std::string_view folded = bytes_.Take(folded_size);
  if (!bytes_.ok()) return CutShort();
  if (size == 0 || size > most_text_bytes_ || size / kMostUnfolding > folded_size ||
      size > std::numeric_limits<unsigned>::max() || folded_size > std::numeric_limits<unsigned>::max()) {
    return Status::Corruption("rdb: a compressed text with an impossible size");
  }
  TRY(Keep(size));
  std::string text(size, '\0');
  const unsigned unfolded =
      lzf_decompress(folded.data(), static_cast<unsigned>(folded_size), text.data(), static_cast<unsigned>(size));
  if (unfolded != size) return Status::Corruption("rdb: a compressed text cannot be decompressed");
  return items.Hold(std::move(text));
}

Status RdbReader::Text(RdbItems& items) {
  const Head head = TRY(ReadHead());
  if (!head.special) {
    items.AddText(TRY(TakeText(head.value)));
    return Ok();
  }
  switch (head.value) {
    case kRdbInt8: items.AddInteger(bytes_.SignedLittle(1)); break;
    case kRdbInt16: items.AddInteger(bytes_.SignedLittle(2)); break;
    case kRdbInt32: items.AddInteger(bytes_.SignedLittle(4)); break;
    case kRdbLzf: items.AddText(TRY(Unfold(items))); break;
    default: return Status::Corruption("rdb: a text of unknown kind");
  }
  return bytes_.ok() ? Ok() : CutShort();
}

Result<std::string_view> RdbReader::Blob(RdbItems& items) {
  const Head head = TRY(ReadHead());
  if (!head.special) return TakeText(head.value);
  if (head.value != kRdbLzf) return Status::Corruption("rdb: a number where a collection is expected");
  return Unfold(items);
}

Result<double> RdbReader::BinaryScore() {
  Need(8);
  const double score = std::bit_cast<double>(bytes_.Little(8));
  if (!bytes_.ok()) return CutShort();
  if (std::isnan(score)) return Status::Corruption("rdb: a score that is not a number");
  return score;
}

Result<double> RdbReader::DigitsScore() {
  Need(1 + UINT8_MAX);
  const uint8_t size = bytes_.Byte();
  if (size == kScoreInfinity) return std::numeric_limits<double>::infinity();
  if (size == kScoreMinusInfinity) return -std::numeric_limits<double>::infinity();
  const std::string_view digits = bytes_.Take(size == kScoreNan ? 0 : size);
  if (!bytes_.ok()) return CutShort();
  const auto score = ParseDouble(digits);
  if (!score) return Status::Corruption("rdb: a score that is not a number");
  return *score;
}

Status BrokenContainer(std::string_view container, Status status) {
  if (status.code() != Code::kCorruption) return status;
  return Status::Corruption(std::string(container) + " integrity check failed: " + std::string(status.text()));
}

}  // namespace cairn
