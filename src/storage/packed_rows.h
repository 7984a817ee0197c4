// SPDX-License-Identifier: BSD-3-Clause
//
// PackedRows: some dozens of row suffixes in order, one after the other in a single piece of memory.
//
//   "apple" "fig"   =   05 61 70 70 6c 65   03 66 69 67
//
// Each is its length as a varint and its bytes. A rank index has tens of thousands of such runs (storage/rank_index.h):
// a string an entry would take three times the memory, and twice the time to walk.
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
  // The memory changes hands with the rows: a string that is assigned a short one keeps what it had, and bytes() of
  // rows that were moved would be another.
  PackedRows& operator=(PackedRows&& other) noexcept {
    data_.swap(other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  size_t size() const { return size_; }
  // On the heap.
  size_t bytes() const { return data_.capacity() > std::string().capacity() ? data_.capacity() + 1 : 0; }

  // REQUIRES: `at` < size(). The view holds until the next change.
  std::string_view operator[](size_t at) const;
  // How many rows sort before `row`.
  size_t LowerBound(std::string_view row) const;

  // REQUIRES: `row` sorts after all that are there.
  void Append(std::string_view row);
  // Puts the row where it sorts, before an equal one.
  void Add(std::string_view row);
  // False: it is not there.
  bool Remove(std::string_view row);
  // Cuts off the rows from `at` on and returns them. REQUIRES: `at` <= size().
  PackedRows SplitOff(size_t at);
  // Gives back all memory: an empty string that is assigned leaves what was there.
  void Clear();
  // Gives back memory that was meant for more rows.
  void Shrink() { data_.shrink_to_fit(); }

  // Calls visit(row) for each from `at` on, until it answers false.
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
  // The row at the offset, which moves on behind it.
  std::string_view Next(size_t& offset) const;

  std::string data_;
  size_t size_ = 0;
};

}  // namespace cairn
