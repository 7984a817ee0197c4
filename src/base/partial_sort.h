// SPDX-License-Identifier: BSD-3-Clause
//
// PartialSort: sorts the elements for some positions of an array, with no more work than needed. Redis uses such a
// sort for SORT with BY and LIMIT and for GEOSEARCH with COUNT. It is not stable unless all positions are sorted: the
// algorithm's steps determine which of several equal elements come first. These are the steps of Bentley and McIlroy,
// "Engineering a Sort Function" (Software, Practice and Experience 23(11), 1993), so equal elements come out in the
// order that Redis's clients see.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <utility>

namespace cairn {

// One call of PartialSort for a part of the positions. `Compare` takes two elements and returns a value below, equal
// to or above 0.
template <typename T, typename Compare>
class PartialSorter {
 public:
  // The positions from `first` to `last`, both included, are to be sorted.
  PartialSorter(T* first, T* last, const Compare& compare) : first_(first), last_(last), compare_(compare) {}

  // Sorts from `begin` to `end`, as far as it contains wanted positions. After `levels` nested partitions, which only
  // an attack needs, another algorithm sorts the rest: the time stays n log n.
  void Sort(T* begin, T* end, int levels) const {
    while (end - begin >= kSmall) {
      if (levels-- == 0) {
        std::stable_sort(begin, end, [this](const T& a, const T& b) { return compare_(a, b) < 0; });
        return;
      }
      const auto [less_end, greater_begin] = Partition(begin, end);
      if (IsWanted(begin, less_end)) Sort(begin, less_end, levels);
      if (!IsWanted(greater_begin, end)) return;
      begin = greater_begin;
    }
    InsertionSort(begin, end);
  }

 private:
  static constexpr ptrdiff_t kSmall = 7;    // fewer elements are sorted by insertion
  static constexpr ptrdiff_t kMedium = 40;  // more get a median of medians as pivot

  bool IsWanted(const T* begin, const T* end) const { return end - begin > 1 && begin <= last_ && first_ < end; }

  void InsertionSort(T* begin, T* end) const {
    for (T* next = begin; next < end; ++next) {
      for (T* at = next; at > begin && compare_(at[-1], at[0]) > 0; --at) std::swap(at[-1], at[0]);
    }
  }

  T* Median(T* a, T* b, T* c) const {
    if (compare_(*a, *b) < 0) {
      if (compare_(*b, *c) < 0) return b;
      return compare_(*a, *c) < 0 ? c : a;
    }
    if (compare_(*b, *c) > 0) return b;
    return compare_(*a, *c) < 0 ? a : c;
  }

  T* Pivot(T* begin, T* end) const {
    const ptrdiff_t n = end - begin;
    T* middle = begin + n / 2;
    if (n == kSmall) return middle;
    T* low = begin;
    T* high = end - 1;
    if (n > kMedium) {
      const ptrdiff_t step = n / 8;
      low = Median(low, low + step, low + 2 * step);
      middle = Median(middle - step, middle, middle + step);
      high = Median(high - 2 * step, high - step, high);
    }
    return Median(low, middle, high);
  }

  // Moves elements less than the pivot to the front and greater ones to the back. Equal ones are collected at both
  // ends first and then moved to the middle. Returns the end of the less and the begin of the greater ones.
  std::pair<T*, T*> Partition(T* begin, T* end) const {
    std::swap(*begin, *Pivot(begin, end));
    T* equal_end = begin + 1;  // equal elements: before equal_end
    T* equal_begin = end - 1;  // and behind equal_begin
    T* low = begin + 1;        // the next element to compare, from the front
    T* high = end - 1;         // and from the back
    for (;;) {
      for (int order = 0; low <= high && (order = compare_(*low, *begin)) <= 0; ++low) {
        if (order == 0) std::swap(*equal_end++, *low);
      }
      for (int order = 0; low <= high && (order = compare_(*high, *begin)) >= 0; --high) {
        if (order == 0) std::swap(*high, *equal_begin--);
      }
      if (low > high) break;
      std::swap(*low++, *high--);
    }
    const ptrdiff_t less = low - equal_end;
    const ptrdiff_t greater = equal_begin - high;
    const ptrdiff_t front = std::min(equal_end - begin, less);
    std::swap_ranges(begin, begin + front, low - front);
    const ptrdiff_t back = std::min(greater, end - equal_begin - 1);
    std::swap_ranges(low, low + back, end - back);
    return {begin + less, end - greater};
  }

  T* const first_;
  T* const last_;
  const Compare& compare_;
};

// Sorts the elements of the `n` positions from `first` on into place, by `compare` (below 0, 0, above 0); the others
// may be anywhere. Stable if all positions are wanted. REQUIRES: first + n <= items.size().
template <typename T, typename Compare>
void PartialSort(std::span<T> items, size_t first, size_t n, const Compare& compare) {
  if (n == 0) return;
  if (n == items.size()) {
    std::stable_sort(items.begin(), items.end(), [&compare](const T& a, const T& b) { return compare(a, b) < 0; });
    return;
  }
  T* const begin = items.data();
  const int levels = 4 * std::bit_width(items.size()) + 16;
  PartialSorter<T, Compare>(begin + first, begin + first + n - 1, compare).Sort(begin, begin + items.size(), levels);
}

}  // namespace cairn
