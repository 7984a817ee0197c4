// SPDX-License-Identifier: BSD-3-Clause
//
// SketchCells: the counters of a count-min or Top-K sketch: an array of bytes whose size never changes, zeros at first
// (docs/format.md, section 5.7).
//
// Less than kFragmentedFrom bytes are stored in the key's record, behind the fields of the sketch, and a change
// rewrites the record. More are fragments (types/fragments.h): a change rewrites only the fragments that it touches.
// Zeros are not stored, so a new sketch is cheap at any size.
//
//   std::string_view rest = entry.payload();
//   SketchCells cells = TRY(SketchCells::Open(keys, key, entry.encoding(), rest));
//   ... read the fields of the sketch from `rest` ...
//   TRY(cells.SetRest(rest, size));
//
// Thread: that of the transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "types/fragments.h"
#include "types/keyspace.h"

namespace cairn {

class SketchCells {
 public:
  // From this size on, cells are fragments, like an edited string (docs/decisions/fragments.md).
  static constexpr uint64_t kFragmentedFrom = 8 * 1024;
  // A sketch with more bytes is refused, like a string.
  static constexpr uint64_t kMostBytes = uint64_t{512} << 20;
  static constexpr uint64_t kPageBytes = 1024;

  // The cells of a new sketch. REQUIRES: 0 < size <= kMostBytes
  static SketchCells Create(Keyspace& keys, const Key& key, uint64_t size);
  // Begins to open the cells of a record with this encoding and `payload`, and leaves the fields of the sketch, and
  // what follows them, in `payload`. The caller completes the cells with SetRest.
  static Result<SketchCells> Open(Keyspace& keys, const Key& key, Encoding encoding, std::string_view& payload);
  // `rest` follows the fields of the sketch, whose cells have `size` bytes.
  Status SetRest(std::string_view rest, uint64_t size);

  // Checks a record's payload without a store. TakeLength removes the fields of the cells from its front, and returns
  // the length that they state; 0 if the cells are not in fragments. CheckRest checks what follows the sketch's fields.
  static Result<uint64_t> TakeLength(Encoding encoding, std::string_view& payload);
  static Status CheckRest(uint64_t length, std::string_view rest, uint64_t size);

  uint64_t size() const { return size_; }
  // Reads or writes the four bytes at `offset`, a number. REQUIRES: they are within size().
  Result<uint32_t> Read(uint64_t offset) const;
  Status Write(uint64_t offset, uint32_t value);
  // The same for any number of bytes; Read appends them to `out`.
  Status Read(uint64_t offset, uint64_t size, std::string& out) const;
  Status Write(uint64_t offset, std::string_view bytes);

  // Calls visit(index, bytes) for every page with a byte other than zero, ascending; `bytes` end with such a byte.
  // Pages have kPageBytes and do not depend on the fragments.
  using PageVisitor = std::function<Status(uint64_t index, std::string_view bytes)>;
  Status ForEachPage(const PageVisitor& visit) const;

  // The record's encoding and its payload with these fields of the sketch.
  Encoding encoding() const { return fragments_ ? Encoding::kSpread : Encoding::kRaw; }
  std::string Payload(std::string_view fields) const;

 private:
  SketchCells() = default;

  uint64_t size_ = 0;
  // The cells are in one of these.
  std::string bytes_;
  std::optional<Fragments> fragments_;
};

}  // namespace cairn
