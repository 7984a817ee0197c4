// SPDX-License-Identifier: BSD-3-Clause
//
// SortPattern: what BY and GET of SORT name for each element: another key or a field of another
// hash.
//
//   #               the element itself
//   weight_*        the string at the key that has the element in place of the star
//   object_*->name  the field `name` of the hash at that key
//   anything else   nothing
//
// Thread: the command's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "types/keyspace.h"

namespace cairn {

class SortPattern {
 public:
  // Views `text`.
  explicit SortPattern(std::string_view text);

  // Whether it names something else for another element.
  bool has_star() const { return kind_ == Kind::kKey; }
  // What it names for `element`; none where there is no such key or field, or it is not text.
  Result<std::optional<std::string>> Find(Keyspace& keys, std::string_view element) const;

 private:
  enum class Kind : unsigned char { kNothing, kElement, kKey };

  Kind kind_ = Kind::kNothing;
  std::string_view before_;  // of the key's name, the star
  std::string_view behind_;
  std::string_view field_;  // empty: the key is a string
};

}  // namespace cairn
