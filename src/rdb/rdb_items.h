// SPDX-License-Identifier: BSD-3-Clause
//
// RdbItems: texts as they come out of a payload, one after another, whichever of Redis's encodings they were in.
//
// An item views the payload's bytes where it can; what was compressed, or is an integer that packed items have no
// form for, is held here. Equal texts are equal items, so they can be compared without being written out.
//
// Thread: that of its user. The payload must outlive it.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoding/packed.h"

namespace cairn {

class RdbItems {
 public:
  RdbItems() = default;
  RdbItems(RdbItems&&) = default;
  RdbItems& operator=(RdbItems&&) = default;

  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const Item& operator[](size_t i) const { return items_[i]; }
  const std::vector<Item>& all() const { return items_; }
  // Leaves no items; what they view stays.
  std::vector<Item> TakeAll() { return std::exchange(items_, {}); }

  // `text` is within the payload, or what Hold answered.
  void AddText(std::string_view text) {
    bytes_ += text.size();
    Add(Item::FromText(text));
  }
  void AddInteger(int64_t value);
  void Add(const Item& item) {
    bytes_ += sizeof(Item);
    items_.push_back(item);
  }
  // What the items that were added take, texts included; those that were taken away count as well.
  size_t bytes() const { return bytes_; }
  // Keeps bytes that are nowhere else.
  std::string_view Hold(std::string bytes) { return held_.emplace_back(std::move(bytes)); }
  void Reserve(size_t count) { items_.reserve(count); }

 private:
  std::vector<Item> items_;
  size_t bytes_ = 0;
  std::deque<std::string> held_;  // never moves what it has
};

}  // namespace cairn
