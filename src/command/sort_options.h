// SPDX-License-Identifier: BSD-3-Clause
//
// SORT's options. They may come in any order and be repeated, and the last one counts, so finding its keys needs a walk
// over all arguments.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "command/args.h"
#include "command/sort_pattern.h"
#include "command/table.h"

namespace cairn {

struct SortOptions {
  bool descending = false;
  bool alpha = false;        // compare as bytes instead of numbers
  bool keeps_order = false;  // BY without a star: no sorting
  std::optional<SortPattern> by;
  std::vector<SortPattern> get;
  int64_t offset = 0;
  int64_t count = -1;  // negative: all
  std::optional<std::string_view> store;

  // The part of `size` sorted elements within LIMIT.
  struct Part {
    uint64_t first;
    uint64_t n;
  };
  Part PartOf(uint64_t size) const;
};

// Reads [BY pattern] [LIMIT offset count] [GET pattern ...] [ASC | DESC] [ALPHA] [STORE key]. `args` latches errors.
// `may_read_all`: the user may read any key, so patterns are allowed.
SortOptions ReadSortOptions(Args& args, bool may_store, bool may_read_all);

// The keys that SORT's arguments name: the one to sort and the destination. The keys of BY and GET depend on the data.
bool FindSortKeys(std::span<const std::string_view> argv, std::vector<KeyUse>& uses);

}  // namespace cairn
