// SPDX-License-Identifier: BSD-3-Clause
//
// Comparing passwords in a time that does not tell how much of a guess was right. Thread: any;
// pure.
#pragma once

#include <openssl/sha.h>

#include <string_view>

namespace cairn {

inline bool IsSamePassword(std::string_view a, std::string_view b) {
  unsigned char digests[2][SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(a.data()), a.size(), digests[0]);
  SHA256(reinterpret_cast<const unsigned char*>(b.data()), b.size(), digests[1]);
  unsigned char difference = 0;
  for (int i = 0; i < SHA256_DIGEST_LENGTH; ++i) difference |= digests[0][i] ^ digests[1][i];
  return difference == 0;
}

}  // namespace cairn
