// SPDX-License-Identifier: BSD-3-Clause
#include "base/sha.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

namespace cairn {
namespace {

const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

}  // namespace

std::array<unsigned char, 20> Sha1(std::string_view bytes) {
  std::array<unsigned char, 20> digest;
  SHA1(Bytes(bytes), bytes.size(), digest.data());
  return digest;
}

std::string Sha256Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(Bytes(bytes), bytes.size(), digest);
  std::string text;
  for (const unsigned char byte : digest) text.append({kDigits[byte >> 4], kDigits[byte & 15]});
  return text;
}

std::string Sha256Base64(std::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(Bytes(bytes), bytes.size(), digest);
  char text[4 * ((SHA256_DIGEST_LENGTH + 2) / 3) + 1];
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text), digest, sizeof digest);
  return {text, static_cast<size_t>(size)};
}

}  // namespace cairn
