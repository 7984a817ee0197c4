// SPDX-License-Identifier: BSD-3-Clause
#include "types/count_min.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/murmur.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr uint64_t kCellBytes = sizeof(uint32_t);
constexpr uint64_t kBytesOfPart = 256 * 1024;  // that a merge adds up at a time
constexpr uint64_t kCellsOfStep = 256;         // of the work budget

Status MergeOverflow() { return Status::Reply("CMS: MERGE overflow"); }

// Adds value * weight to `sum`; false if a product or sum does not fit 64 bits.
bool AddWeighted(int64_t value, int64_t weight, int64_t& sum) {
  int64_t product = 0;
  return !__builtin_mul_overflow(value, weight, &product) && !__builtin_add_overflow(sum, product, &sum);
}

// Adds the weighted counters in `bytes` to the sums.
Status AddCells(std::string_view bytes, int64_t weight, std::vector<int64_t>& sums) {
  for (int64_t& sum : sums) {
    uint32_t cell = 0;
    ReadU32(bytes, cell);
    if (!AddWeighted(cell, weight, sum)) return MergeOverflow();
  }
  return Ok();
}

}  // namespace

bool CountMin::Fits(uint64_t width, uint64_t depth) {
  constexpr uint64_t kMostCells = SketchCells::kMostBytes / kCellBytes;
  return width > 0 && depth > 0 && width <= kMostCells && depth <= kMostCells / width;
}

Result<CountMin::Shape> CountMin::TakeShape(std::string_view& bytes) {
  Shape shape;
  if (!ReadVarint(bytes, shape.width)) return Status::Corruption("count-min sketch: width is cut short");
  if (!ReadVarint(bytes, shape.depth)) return Status::Corruption("count-min sketch: depth is cut short");
  if (!ReadVarint(bytes, shape.count)) return Status::Corruption("count-min sketch: count is cut short");
  if (!Fits(shape.width, shape.depth)) return Status::Corruption("count-min sketch: dimensions are out of range");
  return shape;
}

Status CountMin::Check(const Record& record) {
  std::string_view payload = record.payload;
  const uint64_t length = TRY(SketchCells::TakeLength(record.header.encoding, payload));
  const Shape shape = TRY(TakeShape(payload));
  return SketchCells::CheckRest(length, payload, shape.bytes());
}

Status CountMin::Open() { return Open(TRY(keys_.Find(key_))); }

Status CountMin::Open(KeyEntry entry) {
  if (entry.exists() && entry.type() != Type::kCountMin) return Status::Reply(kWrongType);
  entry_ = std::move(entry);
  if (!entry_.exists()) return Ok();
  std::string_view payload = entry_.payload();
  SketchCells cells = TRY(SketchCells::Open(keys_, key_, entry_.encoding(), payload));
  shape_ = TRY(TakeShape(payload));
  TRY(cells.SetRest(payload, shape_.bytes()));
  cells_ = std::move(cells);
  return Ok();
}

void CountMin::Create(const Shape& shape) {
  ASSERT(!exists(), "the key has a sketch");
  shape_ = shape;
  cells_ = SketchCells::Create(keys_, key_, shape.bytes());
}

std::string CountMin::Fields() const {
  std::string fields;
  AppendVarint(fields, shape_.width);
  AppendVarint(fields, shape_.depth);
  AppendVarint(fields, shape_.count);
  return fields;
}

// The offset of an item's counter in a row.
uint64_t CountMin::CellOf(std::string_view item, uint64_t row) const {
  return (Murmur32(item, static_cast<uint32_t>(row)) % shape_.width + row * shape_.width) * kCellBytes;
}

Result<uint32_t> CountMin::Add(std::string_view item, uint64_t by) {
  TRY(keys_.txn().command().Spend(shape_.depth));
  uint32_t estimate = UINT32_MAX;
  for (uint64_t row = 0; row < shape_.depth; ++row) {
    const uint64_t cell = CellOf(item, row);
    const uint32_t old = TRY(cells_->Read(cell));
    const uint32_t value = by > UINT32_MAX - old ? UINT32_MAX : old + static_cast<uint32_t>(by);
    if (value != old) TRY(cells_->Write(cell, value));
    estimate = std::min(estimate, value);
  }
  shape_.count += by;
  return estimate;
}

Result<uint32_t> CountMin::Estimate(std::string_view item) const {
  TRY(keys_.txn().command().Spend(shape_.depth));
  uint32_t estimate = UINT32_MAX;
  for (uint64_t row = 0; row < shape_.depth; ++row) estimate = std::min(estimate, TRY(cells_->Read(CellOf(item, row))));
  return estimate;
}

Result<bool> CountMin::Merge(std::span<const Weighted> sources) {
  int64_t count = 0;
  for (const auto& [sketch, weight] : sources) {
    if (!AddWeighted(static_cast<int64_t>(sketch->shape_.count), weight, count)) return MergeOverflow();
  }
  if (count < 0) return MergeOverflow();
  bool changed = std::exchange(shape_.count, static_cast<uint64_t>(count)) != static_cast<uint64_t>(count);
  std::vector<int64_t> sums;
  std::string cells;
  std::string old;
  for (uint64_t offset = 0; offset < cells_->size(); offset += kBytesOfPart) {
    const uint64_t size = std::min(kBytesOfPart, cells_->size() - offset);
    sums.assign(size / kCellBytes, 0);
    for (const auto& [sketch, weight] : sources) {
      TRY(keys_.txn().command().Spend(size / kCellBytes / kCellsOfStep));
      cells.clear();
      TRY(sketch->cells_->Read(offset, size, cells));
      TRY(AddCells(cells, weight, sums));
    }
    cells.clear();
    for (const int64_t sum : sums) {
      if (sum < 0 || sum > UINT32_MAX) return MergeOverflow();
      AppendU32(cells, static_cast<uint32_t>(sum));
    }
    old.clear();
    TRY(cells_->Read(offset, size, old));
    if (cells == old) continue;
    TRY(cells_->Write(offset, cells));
    changed = true;
  }
  return changed;
}

Status CountMin::Save() {
  const RecordHeader header = {
      .type = Type::kCountMin, .encoding = cells_->encoding(), .expire_ms = entry_.expire_ms()};
  return keys_.Write(key_, entry_, header, cells_->Payload(Fields()));
}

}  // namespace cairn
