// SPDX-License-Identifier: BSD-3-Clause
//
// The texts that nodes announce about themselves. They come from the network and are written to nodes.conf and shown to
// clients as words of a line, so only texts that cannot end a word are accepted.
//
// Thread: any; pure functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace cairn {

inline constexpr size_t kLongestIp = 45;         // the longest form of an IPv6 address
inline constexpr size_t kLongestHostname = 255;  // as in DNS

// Whether `text` can be an IP address: hex digits, letters, dots, colons, percent signs, dashes and underscores,
// because cluster-announce-ip may also be a name.
bool IsIpText(std::string_view text);

// The same, but as long as a host name may be: a controller of the cluster may give names instead of addresses, which
// never go over the bus.
bool IsHost(std::string_view text);

// Letters, digits, dashes and dots.
bool IsHostname(std::string_view text);

// Printable ASCII without spaces, commas, equals signs, quotes, backslashes and the characters that Redis excludes.
bool IsHumanName(std::string_view text);

}  // namespace cairn
