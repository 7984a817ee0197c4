// SPDX-License-Identifier: BSD-3-Clause
//
// Fragments: the bytes of a large string or filter, cut into rows (docs/format.md, section 5.5, since format 2). The
// cells of a large sketch are stored in the same way (types/sketch_cells.h).
//
// A write rewrites only the fragments it touches, and the key's record if the length changes. Zeros at the end of a
// fragment are not stored, and a fragment of only zeros has no row. So a bit far out in an empty string costs one row.
//
// The owner stores the payload in the key's record (EditedString::Save). That of a filter has its own payload
// (types/filter_bytes.h).
//
// Thread: that of the transaction.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "encoding/row_key.h"
#include "storage/transaction.h"

namespace cairn {

// A row without the zero bytes at its end, which are not stored.
inline std::string_view WithoutZerosAtEnd(std::string_view bytes) {
  // Most rows of a large new value are zeros, and memcmp compares many of them at a time.
  const bool are_zeros =
      !bytes.empty() && bytes[0] == '\0' && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
  return bytes.substr(0, are_zeros ? 0 : bytes.find_last_not_of('\0') + 1);
}

class Fragments {
 public:
  // A shorter string is never fragmented. So a fragmented one is neither an integer nor Redis's embstr.
  static constexpr uint64_t kLeastLength = 45;
  // The fragment size of new strings; each record stores its own (docs/decisions/fragments.md).
  static constexpr uint64_t kFragmentBytes = 1024;

  // Opens the fragments of an existing string. `stripe` is the key's.
  static Result<Fragments> Open(Transaction& txn, uint32_t stripe, std::string_view payload);
  // Opens those of another value, whose payload begins with the fields of a fragmented string; removes these fields.
  static Result<Fragments> OpenFront(Transaction& txn, uint32_t stripe, std::string_view& payload);
  // Starts a new, empty string.
  static Fragments Create(Transaction& txn, KeyspaceId keyspace, uint32_t stripe);
  // The fragments with this layout, which the caller's payload states.
  static Fragments With(Transaction& txn, uint32_t stripe, CollectionId id, uint64_t length, uint64_t fragment_bytes) {
    return Fragments(txn, stripe, {.id = id, .length = length, .fragment_bytes = fragment_bytes});
  }
  // The length in bytes that a fragmented string's payload states.
  static Result<uint64_t> LengthIn(std::string_view payload);
  // The same for another value; removes the fields from the front of its payload.
  static Result<uint64_t> TakeLength(std::string_view& payload);

  CollectionId id() const { return layout_.id; }
  uint64_t length() const { return layout_.length; }
  uint64_t fragment_bytes() const { return layout_.fragment_bytes; }
  std::string Payload() const;

  // Appends the `size` bytes from `offset` on to `out`. REQUIRES: they are within length().
  Status Read(uint64_t offset, uint64_t size, std::string& out) const;
  // REQUIRES: offset < length()
  Result<uint8_t> ByteAt(uint64_t offset) const;
  // Calls visit(offset, bytes) for each row of the `size` bytes from `offset` on, in order, with the part of its bytes
  // in that range, as they are at the time of the call to this function.
  using Visitor = std::function<Status(uint64_t offset, std::string_view bytes)>;
  Status ForEach(uint64_t offset, uint64_t size, const Visitor& visit) const;
  // Overwrites the bytes at `offset`; a shorter string is first extended with zeros.
  Status Write(uint64_t offset, std::string_view bytes);
  // Extends the string with zeros to `length` bytes; a longer one is not changed.
  void Grow(uint64_t length);
  // Shortens the string to `length` bytes. REQUIRES: the bytes behind are zeros.
  void DropZeros(uint64_t length) { layout_.length = length; }

 private:
  struct Layout {
    CollectionId id = 0;
    uint64_t length = 0;
    uint64_t fragment_bytes = kFragmentBytes;
  };
  // A range to read, and its destination.
  struct Span {
    uint64_t offset;
    uint64_t size;
    char* into;
  };

  Fragments(Transaction& txn, uint32_t stripe, Layout layout) : txn_(&txn), stripe_(stripe), layout_(layout) {}

  static Result<Layout> Decode(std::string_view payload);
  static Result<Layout> TakeLayout(std::string_view& payload);
  RowKey Row(uint64_t index) const;
  Status Place(uint64_t index, std::string_view fragment, const Span& span) const;
  Status ReadEach(uint64_t first, uint64_t last, const Span& span) const;
  Status ReadThrough(uint64_t first, uint64_t last, const Span& span) const;
  Status WriteOne(uint64_t index, uint64_t begin, std::string_view part);

  Transaction* txn_;
  uint32_t stripe_;
  Layout layout_;
};

}  // namespace cairn
