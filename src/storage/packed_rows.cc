// SPDX-License-Identifier: BSD-3-Clause
#include "storage/packed_rows.h"

#include "base/assert.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr uint64_t kTwoByteSize = 0x80;  // the smallest size whose varint takes two bytes

}  // namespace

std::string_view PackedRows::Next(size_t& offset) const {
  std::string_view rest(data_);
  rest.remove_prefix(offset);
  uint64_t size = static_cast<unsigned char>(rest[0]);
  if (size < kTwoByteSize && size < rest.size()) {  // the usual case: a walk visits dozens of rows
    offset += 1 + size;
    return rest.substr(1, size);
  }
  const bool whole = ReadVarint(rest, size) && size <= rest.size();
  ASSERT(whole, "packed rows are whole");
  const std::string_view row = rest.substr(0, size);
  offset = static_cast<size_t>(row.data() - data_.data()) + row.size();
  return row;
}

size_t PackedRows::OffsetOf(size_t at) const {
  if (at == size_) return data_.size();
  size_t offset = 0;
  while (at-- > 0) Next(offset);
  return offset;
}

std::string_view PackedRows::operator[](size_t at) const {
  ASSERT(at < size_, "the row is one of them");
  size_t offset = OffsetOf(at);
  return Next(offset);
}

size_t PackedRows::LowerBound(std::string_view row) const {
  size_t before = 0;
  VisitFrom(0, [&](std::string_view other) {
    if (other >= row) return false;
    ++before;
    return true;
  });
  return before;
}

void PackedRows::Append(std::string_view row) {
  AppendVarint(data_, row.size());
  data_.append(row);
  ++size_;
}

size_t PackedRows::OffsetFor(std::string_view row) const {
  for (size_t offset = 0; offset < data_.size();) {
    const size_t begin = offset;
    if (Next(offset) >= row) return begin;
  }
  return data_.size();
}

void PackedRows::Add(std::string_view row) {
  std::string packed;
  AppendVarint(packed, row.size());
  packed.append(row);
  data_.insert(OffsetFor(row), packed);
  ++size_;
}

bool PackedRows::Remove(std::string_view row) {
  const size_t begin = OffsetFor(row);
  size_t end = begin;
  if (begin == data_.size() || Next(end) != row) return false;
  data_.erase(begin, end - begin);
  --size_;
  return true;
}

void PackedRows::Clear() {
  std::string().swap(data_);
  size_ = 0;
}

PackedRows PackedRows::SplitOff(size_t at) {
  PackedRows upper;
  const size_t offset = OffsetOf(at);
  upper.data_.assign(data_, offset);
  upper.size_ = size_ - at;
  data_.resize(offset);
  size_ = at;
  return upper;
}

}  // namespace cairn
