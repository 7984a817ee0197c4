// SPDX-License-Identifier: BSD-3-Clause
//
// The versions that this build reports.
#pragma once

namespace cairn {

inline constexpr char kCairnVersion[] = "0.1.0";
inline constexpr char kRedisVersion[] = "7.2.4";  // the version whose commands and replies are implemented

}  // namespace cairn
