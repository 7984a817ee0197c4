// SPDX-License-Identifier: BSD-3-Clause
//
// SHA-1 and SHA-256, where Redis uses them: DEBUG DIGEST, passwords. Thread: any; pure.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace cairn {

std::array<unsigned char, 20> Sha1(std::string_view bytes);

// 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

}  // namespace cairn
