// SPDX-License-Identifier: BSD-3-Clause
//
// Constants of the layout of messages that the reader and the writer share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cairn {

inline constexpr std::string_view kMessageSignature = "RCmb";
inline constexpr uint16_t kMessageVersion = 1;
inline constexpr size_t kIpFieldSize = 46;
inline constexpr size_t kHeaderReservedSize = 30;
inline constexpr size_t kMessageFlagsSize = 3;  // only the first byte has flags
inline constexpr size_t kModuleIdSize = 8;

// Bits of the first byte of mflags.
inline constexpr uint8_t kPausedFlag = 1 << 0;
inline constexpr uint8_t kForceAckFlag = 1 << 1;
inline constexpr uint8_t kExtensionsFlag = 1 << 2;

// An extension is a header, length:u32 type:u16 unused:u16, and its contents, padded with zeros to a multiple of 8
// bytes. The length includes the header.
inline constexpr size_t kExtensionHeaderSize = 8;
inline constexpr size_t kExtensionAlignment = 8;

enum class ExtensionType : uint16_t { kHostname = 0, kHumanName = 1, kForgottenNode = 2, kShardId = 3 };

}  // namespace cairn
