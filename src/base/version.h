// SPDX-License-Identifier: BSD-3-Clause
//
// The versions that this build reports.
#pragma once

namespace cairn {

inline constexpr char kCairnVersion[] = "0.1.0";
// The version whose commands and replies are implemented: the newest one of which none is missing.
inline constexpr char kRedisVersion[] = "7.4.2";
inline constexpr int kRedisVersionNumber = 0x00070402;

}  // namespace cairn
