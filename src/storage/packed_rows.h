// SPDX-License-Identifier: BSD-3-Clause
//
// PackedRows: some dozens of sorted row suffixes, one after the other in a single block of memory.
//
//   "apple" "fig"   =   05 61 70 70 6c 65   03 66 69 67
//
// Each is its length as a varint, then its bytes. A rank index has tens of thousands of such runs
// (storage/rank_index.h): one string per entry would take three times the memory and twice the time to walk.
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace cairn {

class PackedRows {
 public:
  PackedRows() = default;
  PackedRows(PackedRows&&) noexcept = default;
  // Swaps the memory too: assigning a short string to a long one keeps the long one's memory, so bytes() would differ
  // from that of the moved rows.
  PackedRows& operator=(PackedRows&& other) noexcept {
    data_.swap(other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  size_t size() const { return size_; }
  // Bytes on the heap.
  size_t bytes() const { return data_.capacity() > std::string().capacity() ? data_.capacity() + 1 : 0; }

  // REQUIRES: `at` < size(). The view is valid until the next change.
  std::string_view operator[](size_t at) const;
  // The number of rows that sort before `row`.
  size_t LowerBound(std::string_view row) const;

  // REQUIRES: `row` sorts after all existing rows.
  void Append(std::string_view row);
  // Inserts the row in order, before an equal one.
  void Add(std::string_view row);
  // False: the row was not found.
  bool Remove(std::string_view row);
  // Cuts off the rows from `at` on and returns them. REQUIRES: `at` <= size().
  PackedRows SplitOff(size_t at);
  // Frees all memory; assigning an empty string would not.
  void Clear();
  // Frees unused capacity.
  void Shrink() { data_.shrink_to_fit(); }

  // Calls visit(row) for each row from `at` on, until it returns false.
  template <typename Visit>
  void VisitFrom(size_t at, Visit visit) const {
    for (size_t offset = OffsetOf(at); offset < data_.size();) {
      if (!visit(Next(offset))) return;
    }
  }

 private:
  size_t OffsetOf(size_t at) const;
  // The offset of the first row that does not sort before `row`.
  size_t OffsetFor(std::string_view row) const;
  // Returns the row at the offset and moves the offset behind it.
  std::string_view Next(size_t& offset) const;

  std::string data_;
  size_t size_ = 0;
};

}  // namespace cairn
