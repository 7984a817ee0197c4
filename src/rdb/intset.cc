// SPDX-License-Identifier: BSD-3-Clause
#include "rdb/intset.h"

#include "rdb/byte_reader.h"
#include "rdb/little_endian.h"

namespace cairn {
namespace {

int WidthOf(std::span<const int64_t> integers) {
  int width = 2;
  for (const int64_t value : integers) {
    if (value < INT32_MIN || value > INT32_MAX) return 8;
    if (value < INT16_MIN || value > INT16_MAX) width = 4;
  }
  return width;
}

}  // namespace

Status ReadIntset(std::string_view bytes, RdbItems& items) {
  ByteReader reader(bytes);
  const auto width = static_cast<int>(reader.Little(4));
  const uint64_t count = reader.Little(4);
  if (width != 2 && width != 4 && width != 8) return Status::Corruption("intset: unknown width");
  if (reader.left() != count * width) return Status::Corruption("intset: the length is wrong");
  int64_t last = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const int64_t value = reader.SignedLittle(width);
    if (i > 0 && value <= last) return Status::Corruption("intset: not ascending");
    items.AddInteger(value);
    last = value;
  }
  return Ok();
}

std::string WriteIntset(std::span<const int64_t> integers) {
  const int width = WidthOf(integers);
  std::string out;
  out.reserve(8 + integers.size() * width);
  AppendLittle(out, width, 4);
  AppendLittle(out, integers.size(), 4);
  for (const int64_t value : integers) AppendLittle(out, static_cast<uint64_t>(value), width);
  return out;
}

}  // namespace cairn
