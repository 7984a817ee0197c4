// SPDX-License-Identifier: BSD-3-Clause

#include "isal.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace cairn {
namespace {

// The definition, one bit at a time.
uint64_t BitByBit(std::string_view bytes) {
  uint64_t crc = 0;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0x95ac9329ac4bc9b5 : crc >> 1;
  }
  return crc;
}

TEST(Crc64, EqualsThatOfRedis) {
  EXPECT_EQ(isal::Crc64Jones("123456789"), 0xe9c6d914c4b8d9ca);
  EXPECT_EQ(isal::Crc64Jones(""), 0u);
}

TEST(Crc64, EqualsTheBitwiseDefinition) {
  Random random(1);
  std::string bytes;
  for (int size = 0; size < 600; ++size) {
    EXPECT_EQ(isal::Crc64Jones(bytes), BitByBit(bytes)) << size;
    bytes.push_back(static_cast<char>(random.Next()));
  }
}

TEST(Crc64, ContinuesFromAnEarlierResult) {
  const std::string bytes = "the checksum of a whole is that of its parts in turn";
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::string_view whole(bytes);
    EXPECT_EQ(isal::Crc64Jones(whole.substr(cut), isal::Crc64Jones(whole.substr(0, cut))), isal::Crc64Jones(whole));
  }
}

}  // namespace
}  // namespace cairn
