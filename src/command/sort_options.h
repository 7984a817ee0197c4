// SPDX-License-Identifier: BSD-3-Clause
//
// SORT's options. They may come in any order and more than once, the last one counting; so where
// its keys are takes a walk over all of them.
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
  bool alpha = false;        // as bytes instead of as numbers
  bool keeps_order = false;  // a BY without a star: nothing to sort by
  std::optional<SortPattern> by;
  std::vector<SortPattern> get;
  int64_t offset = 0;
  int64_t count = -1;  // negative: all
  std::optional<std::string_view> store;

  // The part of `size` sorted elements that LIMIT leaves.
  struct Part {
    uint64_t first;
    uint64_t n;
  };
  Part PartOf(uint64_t size) const;
};

// Reads [BY pattern] [LIMIT offset count] [GET pattern ...] [ASC | DESC] [ALPHA] [STORE key]; what
// is wrong is latched by `args`. `may_read_all`: the user may read whatever key a pattern leads to.
SortOptions ReadSortOptions(Args& args, bool may_store, bool may_read_all);

// The keys of SORT that its arguments name: the one to sort and where to store. Those that BY and
// GET lead to depend on what is being sorted.
bool FindSortKeys(std::span<const std::string_view> argv, std::vector<KeyUse>& uses);

}  // namespace cairn
