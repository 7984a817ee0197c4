// SPDX-License-Identifier: BSD-3-Clause
#include "bus/node_id.h"

#include <algorithm>

namespace cairn {

std::optional<NodeId> NodeId::Parse(std::string_view text) {
  if (text.size() != kSize) return std::nullopt;
  const auto is_valid = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); };
  if (!std::all_of(text.begin(), text.end(), is_valid)) return std::nullopt;
  NodeId id;
  std::copy(text.begin(), text.end(), id.text_.begin());
  return id;
}

}  // namespace cairn
