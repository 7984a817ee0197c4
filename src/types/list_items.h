// SPDX-License-Identifier: BSD-3-Clause
//
// List items: cutting, joining and searching packed lists (encoding/packed.h). A small list is one packed list, a large
// one has a packed list per chunk. This file knows neither rows nor keys.
//
// A packed list is its count, followed by its items. A change cuts the bytes at item boundaries and joins them again,
// so unchanged items are neither decoded twice nor encoded again.
//
// Functions return kCorruption for a damaged list. Thread: any; pure functions and values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "encoding/packed.h"

namespace cairn {

enum class ListEnd : uint8_t { kHead, kTail };

// A packed list without items.
inline constexpr std::string_view kEmptyPackedList{"\0", 1};

// Encoded items in sequence, addressed by number.
class EncodedItems {
 public:
  EncodedItems() = default;
  explicit EncodedItems(std::span<const std::string_view> values);

  void Add(const Item& item);
  size_t count() const { return ends_.size(); }
  size_t size_bytes() const { return bytes_.size(); }
  // The bytes of items [from, from + n).
  std::string_view Range(size_t from, size_t n) const;

 private:
  std::string bytes_;
  std::vector<size_t> ends_;  // where each item ends in bytes_
};

// A packed list in three parts: the items before a range, in it and after it.
struct PackedListCut {
  uint64_t before_count = 0;
  uint64_t range_count = 0;
  uint64_t after_count = 0;
  std::string_view before;
  std::string_view range;
  std::string_view after;
};
// REQUIRES: the list's count is at least at + n.
Result<PackedListCut> CutPackedList(std::string_view packed, uint64_t at, uint64_t n);

// Makes a list of `count` items from their encoded bytes.
std::string JoinPackedList(uint64_t count, std::string_view items);

// Returns the list with the range replaced by `items`.
std::string ReplaceRange(const PackedListCut& cut, const EncodedItems& items);

// Returns the list with items [from, from + n) pushed at `end`, one after another: at the head they end up reversed.
std::string ExtendPackedList(std::string_view packed, ListEnd end, const EncodedItems& items, size_t from, size_t n);

// Returns the list without the items at `positions`, which ascend.
Result<std::string> WithoutItems(std::string_view packed, std::span<const uint64_t> positions);

// Cuts the list in two at the item boundary nearest the middle of its bytes. REQUIRES: it has two items or more.
struct PackedListHalves {
  std::string left;
  std::string right;
};
Result<PackedListHalves> HalvePackedList(std::string_view packed);

using ItemVisitor = std::function<void(const Item&)>;

// Calls visit for items [at, at + n), from the last to the first when `reverse`.
Status ForEachItem(std::string_view packed, uint64_t at, uint64_t n, bool reverse, const ItemVisitor& visit);

// Appends the positions of items equal to `wanted`, ascending.
Status FindItems(std::string_view packed, const Item& wanted, std::vector<uint64_t>& positions);
// Returns the first such position only.
Result<std::optional<uint64_t>> FindItem(std::string_view packed, const Item& wanted);

}  // namespace cairn
