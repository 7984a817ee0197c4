// SPDX-License-Identifier: BSD-3-Clause
//
// SortPattern: the value that BY or GET of SORT names for each element: a string or a hash field of another key.
//
//   #               the element itself
//   weight_*        the string at the key that has the element in place of the star
//   object_*->name  the field `name` of the hash at that key
//   anything else   nothing
//
// Thread: that of the command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "base/result.h"
#include "types/keyspace.h"

namespace cairn {

// Called with the size of a value before it is copied. An error refuses the value.
using SizeCheck = absl::FunctionRef<Status(uint64_t bytes)>;

class SortPattern {
 public:
  // The pattern refers to `text`.
  explicit SortPattern(std::string_view text);

  // Whether the named value depends on the element.
  bool has_star() const { return kind_ == Kind::kKey; }
  // Returns the value for `element`; nullopt if the key or field is missing or has another type. The error of `check`
  // if it refuses the value.
  Result<std::optional<std::string>> Find(Keyspace& keys, std::string_view element, SizeCheck check) const;

 private:
  enum class Kind : unsigned char { kNothing, kElement, kKey };

  Kind kind_ = Kind::kNothing;
  std::string_view before_;  // the part of the key's name before the star
  std::string_view behind_;
  std::string_view field_;  // empty: the value is a string
};

}  // namespace cairn
