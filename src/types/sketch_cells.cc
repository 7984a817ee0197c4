// SPDX-License-Identifier: BSD-3-Clause
#include "types/sketch_cells.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr uint64_t kBytesOfRead = 256 * SketchCells::kPageBytes;  // of a walk

}  // namespace

SketchCells SketchCells::Create(Keyspace& keys, const Key& key, uint64_t size) {
  ASSERT(size > 0 && size <= kMostBytes, "the size of a sketch is out of range");
  SketchCells cells;
  cells.size_ = size;
  if (size < kFragmentedFrom) {
    cells.bytes_.resize(size);
  } else {
    cells.fragments_ = Fragments::Create(keys.txn(), keys.id(), key.stripe());
    cells.fragments_->Grow(size);
  }
  return cells;
}

Result<SketchCells> SketchCells::Open(Keyspace& keys, const Key& key, Encoding encoding, std::string_view& payload) {
  SketchCells cells;
  if (encoding == Encoding::kSpread) {
    cells.fragments_ = TRY(Fragments::OpenFront(keys.txn(), key.stripe(), payload));
  } else {
    TRY(TakeLength(encoding, payload));
  }
  return cells;
}

Result<uint64_t> SketchCells::TakeLength(Encoding encoding, std::string_view& payload) {
  if (encoding == Encoding::kSpread) return Fragments::TakeLength(payload);
  if (encoding == Encoding::kRaw) return uint64_t{0};
  return Status::Corruption("sketch: unknown encoding");
}

Status SketchCells::CheckRest(uint64_t length, std::string_view rest, uint64_t size) {
  if (length > 0) {
    if (!rest.empty()) return Status::Corruption("sketch: bytes after the fields");
    return length == size ? Ok() : Status::Corruption("sketch: another size than the fields say");
  }
  const bool fits = size < kFragmentedFrom && rest.size() <= size;
  return fits ? Ok() : Status::Corruption("sketch: more cells than the fields say");
}

Status SketchCells::SetRest(std::string_view rest, uint64_t size) {
  TRY(CheckRest(fragments_ ? fragments_->length() : 0, rest, size));
  size_ = size;
  if (fragments_) return Ok();
  bytes_.assign(rest);
  bytes_.resize(size);
  return Ok();
}

Result<uint32_t> SketchCells::Read(uint64_t offset) const {
  std::string bytes;
  TRY(Read(offset, sizeof(uint32_t), bytes));
  uint32_t value = 0;
  std::string_view view = bytes;
  ReadU32(view, value);
  return value;
}

Status SketchCells::Write(uint64_t offset, uint32_t value) {
  std::string bytes;
  AppendU32(bytes, value);
  return Write(offset, bytes);
}

Status SketchCells::Read(uint64_t offset, uint64_t size, std::string& out) const {
  ASSERT(offset <= size_ && size <= size_ - offset, "a read beyond the cells");
  if (fragments_) return fragments_->Read(offset, size, out);
  out.append(bytes_, offset, size);
  return Ok();
}

Status SketchCells::Write(uint64_t offset, std::string_view bytes) {
  ASSERT(offset <= size_ && bytes.size() <= size_ - offset, "a write beyond the cells");
  if (fragments_) return fragments_->Write(offset, bytes);
  bytes_.replace(offset, bytes.size(), bytes);
  return Ok();
}

Status SketchCells::ForEachPage(const PageVisitor& visit) const {
  std::string read;
  for (uint64_t offset = 0; offset < size_; offset += kBytesOfRead) {
    read.clear();
    TRY(Read(offset, std::min(kBytesOfRead, size_ - offset), read));
    for (uint64_t begin = 0; begin < read.size(); begin += kPageBytes) {
      const std::string_view page = WithoutZerosAtEnd(std::string_view(read).substr(begin, kPageBytes));
      if (!page.empty()) TRY(visit((offset + begin) / kPageBytes, page));
    }
  }
  return Ok();
}

std::string SketchCells::Payload(std::string_view fields) const {
  std::string payload;
  if (fragments_) payload = fragments_->Payload();
  payload.append(fields);
  if (!fragments_) payload.append(WithoutZerosAtEnd(bytes_));
  return payload;
}

}  // namespace cairn
