// SPDX-License-Identifier: BSD-3-Clause
#include "rdb/listpack.h"

#include <algorithm>

#include "base/number.h"
#include "rdb/byte_reader.h"
#include "rdb/little_endian.h"

namespace cairn {
namespace {

constexpr size_t kHeadBytes = 6;
constexpr uint8_t kEnd = 0xff;
constexpr uint64_t kUnknownCount = 65535;
constexpr size_t kMostDigits = 20;  // of an int64, with the sign

constexpr uint8_t kText32 = 0xf0;
constexpr uint8_t kInteger16 = 0xf1;
constexpr uint8_t kInteger24 = 0xf2;
constexpr uint8_t kInteger32 = 0xf3;
constexpr uint8_t kInteger64 = 0xf4;

// The number of bytes of an entry's back length. The bounds are one below the powers of two, as in Redis.
int BackLengthBytes(uint64_t size) {
  if (size <= 127) return 1;
  if (size < 16383) return 2;
  if (size < 2097151) return 3;
  return size < 268435455 ? 4 : 5;
}

// Reads the back length at the end of an entry.
uint64_t BackLength(std::string_view bytes) {
  uint64_t size = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    if ((byte >= 128) != (i > 0)) return 0;  // not a valid back length
    size = size << 7 | (byte & 127);
  }
  return size;
}

// Reads an entry without its back length and adds its item.
Status ReadEntry(ByteReader& reader, RdbItems& items) {
  const uint8_t head = reader.Byte();
  if (head < 0x80) {
    items.AddInteger(head);
  } else if (head < 0xc0) {
    items.AddText(reader.Take(head & 0x3f));
  } else if (head < 0xe0) {
    const int value = (head & 0x1f) << 8 | reader.Byte();
    items.AddInteger(value < 4096 ? value : value - 8192);
  } else if (head < 0xf0) {
    const uint64_t size = (head & 0x0f) << 8 | reader.Byte();
    items.AddText(reader.Take(size));
  } else if (head == kText32) {
    const uint64_t size = reader.Little(4);
    items.AddText(reader.Take(size));
  } else if (head == kInteger16) {
    items.AddInteger(reader.SignedLittle(2));
  } else if (head == kInteger24) {
    items.AddInteger(reader.SignedLittle(3));
  } else if (head == kInteger32) {
    items.AddInteger(reader.SignedLittle(4));
  } else if (head == kInteger64) {
    items.AddInteger(reader.SignedLittle(8));
  } else {
    return Status::Corruption("listpack: an entry of unknown kind");
  }
  return Ok();
}

}  // namespace

Status ReadListpack(std::string_view bytes, RdbItems& items) {
  ByteReader reader(bytes);
  const uint64_t total = reader.Little(4);
  const uint64_t count = reader.Little(2);
  if (total != bytes.size()) return Status::Corruption("listpack: the length is wrong");
  uint64_t seen = 0;
  while (reader.left() > 1) {
    const size_t before = reader.left();
    TRY(ReadEntry(reader, items));
    const size_t size = before - reader.left();
    const std::string_view back_length = reader.Take(BackLengthBytes(size));
    if (!reader.ok()) return Status::Corruption("listpack: an entry is cut short");
    if (BackLength(back_length) != size) {
      return Status::Corruption("listpack: the back length of an entry is wrong");
    }
    ++seen;
  }
  if (reader.Byte() != kEnd || !reader.ok()) return Status::Corruption("listpack: no end");
  if (count != kUnknownCount && count != seen) {
    return Status::Corruption("listpack: the count does not match the entries");
  }
  return Ok();
}

ListpackWriter::ListpackWriter() : out_(kHeadBytes, '\0') {}

void ListpackWriter::EndEntry(size_t begin) {
  const uint64_t size = out_.size() - begin;
  for (int group = BackLengthBytes(size) - 1, first = group; group >= 0; --group) {
    const uint64_t bits = size >> (7 * group) & 127;
    out_.push_back(static_cast<char>(group == first ? bits : bits | 128));
  }
  ++count_;
}

void ListpackWriter::AddInteger(int64_t value) {
  const auto fits = [value](int bits) {
    const int64_t end = int64_t{1} << (bits - 1);
    return value >= -end && value < end;
  };
  const size_t begin = out_.size();
  const auto bits = static_cast<uint64_t>(value);
  if (value >= 0 && value <= 127) {
    out_.push_back(static_cast<char>(value));
  } else if (fits(13)) {
    out_.push_back(static_cast<char>(0xc0 | (bits >> 8 & 0x1f)));
    out_.push_back(static_cast<char>(bits));
  } else {
    const int size = fits(16) ? 2 : fits(24) ? 3 : fits(32) ? 4 : 8;
    out_.push_back(static_cast<char>(kInteger16 + std::min(size, 5) - 2));
    AppendLittle(out_, bits, size);
  }
  EndEntry(begin);
}

void ListpackWriter::AddText(std::string_view text) {
  if (text.size() <= kMostDigits) {
    if (const auto integer = ParseInt64(text)) return AddInteger(*integer);
  }
  const size_t begin = out_.size();
  const size_t size = text.size();
  if (size < 64) {
    out_.push_back(static_cast<char>(0x80 | size));
  } else if (size < 4096) {
    out_.push_back(static_cast<char>(0xe0 | size >> 8));
    out_.push_back(static_cast<char>(size));
  } else {
    out_.push_back(static_cast<char>(kText32));
    AppendLittle(out_, size, 4);
  }
  out_.append(text);
  EndEntry(begin);
}

void ListpackWriter::Add(const Item& item) {
  if (item.is_integer()) {
    AddInteger(item.integer());
  } else {
    AddText(item.bytes());
  }
}

void ListpackWriter::Append(const ListpackWriter& other) {
  out_.append(other.out_, kHeadBytes);
  count_ += other.count_;
}

std::string ListpackWriter::Take() {
  out_.push_back(static_cast<char>(kEnd));
  std::string head;
  AppendLittle(head, out_.size(), 4);
  AppendLittle(head, std::min<uint64_t>(count_, kUnknownCount), 2);
  out_.replace(0, kHeadBytes, head);
  return std::move(out_);
}

}  // namespace cairn
