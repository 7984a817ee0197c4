// SPDX-License-Identifier: BSD-3-Clause
//
// Denial: the reason why a call is not allowed. Thread: a value.
#pragma once

#include <cstdint>

namespace cairn {

// In increasing order of weight: of several selectors' reasons the highest is reported.
enum class DenialReason : unsigned char { kNone, kDatabase, kCommand, kKey, kChannel, kLogin };

struct Denial {
  DenialReason reason = DenialReason::kNone;
  uint32_t position = 0;  // of the key, channel or database among the arguments

  explicit operator bool() const { return reason != DenialReason::kNone; }
};

}  // namespace cairn
