// SPDX-License-Identifier: BSD-3-Clause
//
// Fragments: the bytes of a large string, cut into rows (docs/format.md, section 5.5, since format 2).
//
// A write rewrites only the fragments it touches, and the key's record if the length changes. Zeros at the end of a
// fragment are not stored, and a fragment of only zeros has no row. So a bit far out in an empty string costs one row.
//
// The owner stores the payload in the key's record (EditedString::Save).
//
// Thread: that of the transaction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "encoding/row_key.h"
#include "storage/transaction.h"

namespace cairn {

class Fragments {
 public:
  // A shorter string is never fragmented. So a fragmented one is neither an integer nor Redis's embstr.
  static constexpr uint64_t kLeastLength = 45;
  // The fragment size of new strings; each record stores its own (docs/decisions/fragments.md).
  static constexpr uint64_t kFragmentBytes = 1024;

  // Opens the fragments of an existing string. `stripe` is the key's.
  static Result<Fragments> Open(Transaction& txn, uint32_t stripe, std::string_view payload);
  // Starts a new, empty string.
  static Fragments Create(Transaction& txn, KeyspaceId keyspace, uint32_t stripe);
  // The length in bytes that a fragmented string's payload states.
  static Result<uint64_t> LengthIn(std::string_view payload);

  uint64_t length() const { return layout_.length; }
  std::string Payload() const;

  // Appends the `size` bytes from `offset` on to `out`. REQUIRES: they are within length().
  Status Read(uint64_t offset, uint64_t size, std::string& out) const;
  // Overwrites the bytes at `offset`; a shorter string is first extended with zeros.
  Status Write(uint64_t offset, std::string_view bytes);
  // Extends the string with zeros to `length` bytes; a longer one is not changed.
  void Grow(uint64_t length);

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
