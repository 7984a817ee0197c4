// SPDX-License-Identifier: BSD-3-Clause
#include "rdb/ziplist.h"

#include "rdb/byte_reader.h"

namespace cairn {
namespace {

constexpr uint8_t kEnd = 0xff;
constexpr uint8_t kLongSize = 0xfe;  // four bytes of size follow
constexpr uint64_t kUnknownCount = 65535;
constexpr uint64_t kUnknownZipmapCount = 254;

// Reads the item of an entry.
Status ReadContent(ByteReader& reader, RdbItems& items) {
  const uint8_t head = reader.Byte();
  switch (head) {
    case 0x80: {
      const uint64_t size = reader.Big(4);
      items.AddText(reader.Take(size));
      return Ok();
    }
    case 0xc0: items.AddInteger(reader.SignedLittle(2)); return Ok();
    case 0xd0: items.AddInteger(reader.SignedLittle(4)); return Ok();
    case 0xe0: items.AddInteger(reader.SignedLittle(8)); return Ok();
    case 0xf0: items.AddInteger(reader.SignedLittle(3)); return Ok();
    case 0xfe: items.AddInteger(reader.SignedLittle(1)); return Ok();
    default: break;
  }
  if (head < 0x40) {
    items.AddText(reader.Take(head));
  } else if (head < 0x80) {
    const uint64_t size = (head & 0x3f) << 8 | reader.Byte();
    items.AddText(reader.Take(size));
  } else if (head >= 0xf1 && head <= 0xfd) {
    items.AddInteger(head - 0xf1);
  } else {
    return Status::Corruption("ziplist: an entry of unknown kind");
  }
  return Ok();
}

// Reads a size in a zipmap. A small size in the long form is invalid: Redis never writes it.
uint64_t ReadZipmapSize(ByteReader& reader, bool& valid) {
  const uint8_t head = reader.Byte();
  if (head < kLongSize) return head;
  const uint64_t size = reader.Little(4);
  valid = valid && head == kLongSize && size >= kLongSize;
  return size;
}

}  // namespace

Status ReadZiplist(std::string_view bytes, RdbItems& items) {
  ByteReader reader(bytes);
  const uint64_t total = reader.Little(4);
  const uint64_t tail = reader.Little(4);
  const uint64_t count = reader.Little(2);
  if (total != bytes.size()) return Status::Corruption("ziplist: the length is wrong");
  uint64_t seen = 0;
  uint64_t last_begin = 0;
  uint64_t last_size = 0;
  while (reader.left() > 1) {
    const uint64_t begin = bytes.size() - reader.left();
    const uint8_t head = reader.Byte();
    const uint64_t size_before = head < kLongSize ? head : reader.Little(4);
    if (head == kEnd || size_before != last_size) {
      return Status::Corruption("ziplist: the previous entry's size is wrong");
    }
    TRY(ReadContent(reader, items));
    if (!reader.ok()) return Status::Corruption("ziplist: an entry is cut short");
    last_begin = begin;
    last_size = bytes.size() - reader.left() - begin;
    ++seen;
  }
  if (reader.Byte() != kEnd || !reader.ok()) return Status::Corruption("ziplist: no end");
  if (seen > 0 && tail != last_begin) return Status::Corruption("ziplist: the tail offset is wrong");
  if (count != kUnknownCount && count != seen) {
    return Status::Corruption("ziplist: the count does not match the entries");
  }
  return Ok();
}

Status ReadZipmap(std::string_view bytes, RdbItems& items) {
  ByteReader reader(bytes);
  const uint64_t count = reader.Byte();
  uint64_t seen = 0;
  bool valid = true;
  while (reader.left() > 1) {
    const uint64_t field_size = ReadZipmapSize(reader, valid);
    const std::string_view field = reader.Take(field_size);
    const uint64_t value_size = ReadZipmapSize(reader, valid);
    const uint8_t unused = reader.Byte();
    const std::string_view value = reader.Take(value_size);
    reader.Take(unused);
    if (!reader.ok() || !valid) return Status::Corruption("zipmap: an entry is cut short or has a wrong size");
    items.AddText(field);
    items.AddText(value);
    ++seen;
  }
  if (reader.Byte() != kEnd || !reader.ok()) return Status::Corruption("zipmap: no end");
  if (count != kUnknownZipmapCount && count != seen) {
    return Status::Corruption("zipmap: the count does not match the fields");
  }
  return Ok();
}

}  // namespace cairn
