// SPDX-License-Identifier: BSD-3-Clause
//
// NodeId: the name of a node of a cluster, or of a shard: 40 random hex digits. Redis accepts any lower-case letters
// and digits, and so does this class.
//
// Thread: any; a value.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <optional>
#include <string_view>

namespace cairn {

class NodeId {
 public:
  static constexpr size_t kSize = 40;

  // Forty zeros.
  NodeId() { text_.fill('0'); }

  // None for text that is no id.
  static std::optional<NodeId> Parse(std::string_view text);

  std::string_view text() const { return {text_.data(), text_.size()}; }

  friend auto operator<=>(const NodeId&, const NodeId&) = default;

 private:
  std::array<char, kSize> text_;
};

}  // namespace cairn
