// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace cairn {

// Formats bytes for people: "1.50M". Thread: any; pure.
std::string HumanBytes(uint64_t bytes);

}  // namespace cairn
