// SPDX-License-Identifier: BSD-3-Clause
//
// The hash of members in containers. Thread: any.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/hash.h"

namespace cairn {

// A view finds a string.
struct MemberHash {
  using is_transparent = void;
  size_t operator()(std::string_view member) const { return Hash64(member); }
};

}  // namespace cairn
