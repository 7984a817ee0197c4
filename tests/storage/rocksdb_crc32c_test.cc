// SPDX-License-Identifier: BSD-3-Clause
//
// The replacement of RocksDB's checksum (third_party/rocksdb_crc32c.cc) gives the same results as RocksDB's own.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/random.h"

// RocksDB's own function (util/crc32c.h is not an installed header), under the name that the linker gives it.
extern "C" uint32_t __real__ZN7rocksdb6crc32c6ExtendEjPKcm(uint32_t crc, const char* bytes, size_t size);

namespace rocksdb::crc32c {
uint32_t Extend(uint32_t crc, const char* bytes, size_t size);
}

namespace cairn {
namespace {

uint32_t Plain(const std::string& bytes, size_t from, uint32_t crc) {
  return __real__ZN7rocksdb6crc32c6ExtendEjPKcm(crc, bytes.data() + from, bytes.size() - from);
}

uint32_t Fast(const std::string& bytes, size_t from, uint32_t crc) {
  return rocksdb::crc32c::Extend(crc, bytes.data() + from, bytes.size() - from);
}

// RFC 3720, B.4.
TEST(RocksDbCrc32c, MatchesTheStandard) {
  EXPECT_EQ(Fast(std::string(32, '\0'), 0, 0), 0x8a9136aau);
  EXPECT_EQ(Fast(std::string(32, '\xff'), 0, 0), 0x62a8ab43u);
  EXPECT_EQ(Fast("", 0, 0), 0u);
}

TEST(RocksDbCrc32c, EqualsRocksDbsOwn) {
  Random random(1);
  std::string bytes;
  for (int size = 0; size < 1500; ++size) {
    for (size_t from = 0; from < 9 && from <= bytes.size(); ++from) {
      const auto before = static_cast<uint32_t>(random.Next());
      ASSERT_EQ(Fast(bytes, from, before), Plain(bytes, from, before)) << size << " from " << from;
    }
    bytes.push_back(static_cast<char>(random.Next()));
  }
  for (int i = 0; i < 5'000'000; ++i) bytes.push_back(static_cast<char>(random.Next()));
  EXPECT_EQ(Fast(bytes, 1, 7), Plain(bytes, 1, 7));
}

}  // namespace
}  // namespace cairn
