// SPDX-License-Identifier: BSD-3-Clause
//
// RdbItems: the texts read from a payload, in order, in any of Redis's encodings.
//
// An item views the payload's bytes where possible. This class holds decompressed texts, and the digits of integers
// that packed items cannot represent. Equal texts are equal items, so items can be compared without formatting them.
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
  // Removes the items; the texts they view stay valid.
  std::vector<Item> TakeAll() { return std::exchange(items_, {}); }

  // `text` must be within the payload, or a result of Hold.
  void AddText(std::string_view text) {
    text_bytes_ += text.size();
    Add(Item::FromText(text));
  }
  void AddInteger(int64_t value);
  void Add(const Item& item) {
    ++added_;
    items_.push_back(item);
  }
  // The bytes of all items ever added, including their texts and including items taken since.
  size_t bytes() const { return text_bytes_ + added_ * sizeof(Item); }
  // The number of all items ever added, including items taken since.
  size_t added() const { return added_; }
  // Keeps bytes that are not in the payload.
  std::string_view Hold(std::string bytes) { return held_.emplace_back(std::move(bytes)); }
  void Reserve(size_t count) { items_.reserve(count); }

 private:
  std::vector<Item> items_;
  size_t text_bytes_ = 0;
  size_t added_ = 0;
  std::deque<std::string> held_;  // a deque never moves its elements
};

}  // namespace cairn
