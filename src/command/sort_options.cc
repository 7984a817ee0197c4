// SPDX-License-Identifier: BSD-3-Clause
#include "command/sort_options.h"

#include <algorithm>

#include "command/key_options.h"

namespace cairn {
namespace {

constexpr std::string_view kStore = "STORE";
constexpr OptionWord kOptions[] = {
    {"ASC", 0}, {"DESC", 0}, {"ALPHA", 0}, {"LIMIT", 2}, {"BY", 1}, {"GET", 1}, {kStore, 1},
};

std::string DeniedFor(const char* option) {
  return std::string("ERR ") + option + " option of SORT denied due to insufficient ACL permissions.";
}

}  // namespace

SortOptions::Part SortOptions::PartOf(uint64_t size) const {
  const uint64_t first = std::min(static_cast<uint64_t>(std::max<int64_t>(offset, 0)), size);
  const uint64_t left = size - first;
  return {first, count < 0 ? left : std::min(static_cast<uint64_t>(count), left)};
}

SortOptions ReadSortOptions(Args& args, bool may_store, bool may_read_all) {
  SortOptions options;
  while (args.More()) {
    const size_t behind = args.left() - 1;
    if (args.Keyword("ASC")) {
      options.descending = false;
    } else if (args.Keyword("DESC")) {
      options.descending = true;
    } else if (args.Keyword("ALPHA")) {
      options.alpha = true;
    } else if (behind >= 2 && args.Keyword("LIMIT")) {
      options.offset = args.Integer();
      options.count = args.Integer();
    } else if (behind >= 1 && args.Keyword("BY")) {
      options.by.emplace(args.Bytes());
      options.keeps_order |= !options.by->has_star();
      if (options.by->has_star() && !may_read_all) args.Fail(DeniedFor("BY"));
    } else if (behind >= 1 && args.Keyword("GET")) {
      options.get.emplace_back(args.Bytes());
      if (!may_read_all) args.Fail(DeniedFor("GET"));
    } else if (may_store && behind >= 1 && args.Keyword(kStore)) {
      options.store = args.Bytes();
    } else {
      args.Fail(errors::kSyntax);
    }
  }
  return options;
}

bool FindSortKeys(std::span<const std::string_view> argv, std::vector<KeyUse>& uses) {
  if (argv.size() < 2) return false;
  uses.push_back({1, kRO | kAccess});
  uint32_t store = 0;
  WalkOptions(argv, 2, kOptions, [&store](std::string_view word, size_t at) {
    if (word == kStore) store = static_cast<uint32_t>(at + 1);
    return true;
  });
  if (store != 0) uses.push_back({store, kOW | kUpdate});
  return true;
}

}  // namespace cairn
