// SPDX-License-Identifier: BSD-3-Clause
//
// Fragments: the bytes of a large string, cut into rows (docs/format.md, section 5.5, since format 2).
//
// What a write touches is what it rewrites: the fragments its bytes lie in, and the key's record
// when the length changes. The zeros at a fragment's end are not stored and one of nothing but
// zeros has no row, so a bit far out in an empty string costs one row.
//
// That the payload gets into the key's record is the owner's part (EditedString::Save).
//
// Thread: the transaction's.
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
  // No shorter string lies in fragments, so none of them is an integer or what Redis calls embstr.
  static constexpr uint64_t kLeastLength = 45;
  // Of a string that is cut up now; each record says its own (docs/decisions/fragments.md).
  static constexpr uint64_t kFragmentBytes = 1024;

  // Those of an existing string. `stripe` is that of its key.
  static Result<Fragments> Open(Transaction& txn, uint32_t stripe, std::string_view payload);
  // Those of a new one, which is empty.
  static Fragments Create(Transaction& txn, uint32_t stripe);
  // The length in bytes that a spread string's payload tells.
  static Result<uint64_t> LengthIn(std::string_view payload);

  uint64_t length() const { return layout_.length; }
  std::string Payload() const;

  // Appends `size` bytes from `offset` on. REQUIRES: they are within length().
  Status Read(uint64_t offset, uint64_t size, std::string& out) const;
  // Overwrites what is at `offset`; a string that ends before grows, with zeros in between.
  Status Write(uint64_t offset, std::string_view bytes);
  // Lengthens with zeros up to `length`; a longer one stays.
  void Grow(uint64_t length);

 private:
  struct Layout {
    CollectionId id = 0;
    uint64_t length = 0;
    uint64_t fragment_bytes = kFragmentBytes;
  };
  // What is being read, and where it goes.
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
