// SPDX-License-Identifier: BSD-3-Clause
//
// SHA-1 and SHA-256, where Redis uses them: DEBUG DIGEST, passwords; and for a page's policy. Thread: any; pure.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace cairn {

std::array<unsigned char, 20> Sha1(std::string_view bytes);

// 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

// The digest in base 64, as a Content-Security-Policy names a script.
std::string Sha256Base64(std::string_view bytes);

}  // namespace cairn
