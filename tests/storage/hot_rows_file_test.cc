// SPDX-License-Identifier: BSD-3-Clause
#include "storage/hot_rows_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>

#include "base/hash.h"
#include "encoding/row_key.h"
#include "encoding/varint.h"
#include "storage/store_fixture.h"

namespace cairn {
namespace {

using std::string_literals::operator""s;

HotRows RowsOf(std::initializer_list<std::string_view> kept, std::initializer_list<std::string_view> young = {}) {
  HotRows rows;
  for (const std::string_view name : kept) rows.kept.Add(name);
  for (const std::string_view name : young) rows.young.Add(name);
  return rows;
}

std::string WithChecksum(std::string bytes) {
  AppendU64(bytes, Hash64(bytes));
  return bytes;
}

constexpr uint64_t kMost = 1 << 20;

TEST(HotRowsFile, HasTheBytesOfTheFormat) {
  const RowKey key = MakeKeyRow(1, "foo");
  const RowKey next = MakeKeyRow(1, "fop");
  const RowKey member = MakeElementRow(1000, "m", 0);
  const RowKey chunk = MakeChunkRow(1000, 7, 0);
  const std::string bytes = EncodeHotRows(RowsOf({next.tagged(), key.tagged()}, {member.tagged(), chunk.tagged()}));
  const std::string names =
      "\2\0\x8\1\0\0\0\1foo\7\1p"s + "\2\0\x12\0\2\0\0\0\0\0\0\3\xe8\x80\0\0\0\0\0\0\7\0\xa\2\0\0\0\0\0\0\3\xe8m"s;
  ASSERT_EQ(names.size(), 47u);
  // The frame: the magic, a head with the size of the content, one block that is not compressed.
  EXPECT_EQ(bytes, WithChecksum("cairnkc2\x28\xb5\x2f\xfd\x20\x2f\x79\1\0"s + names));
  const auto rows = DecodeHotRows(bytes, kMost);
  ASSERT_TRUE(rows.ok()) << rows.status().text();
  ASSERT_EQ(rows->kept.size(), 2u);
  ASSERT_EQ(rows->young.size(), 2u);
  EXPECT_EQ(rows->kept[0], std::min(key.tagged(), next.tagged()));
  EXPECT_EQ(rows->kept[1], std::max(key.tagged(), next.tagged()));
  EXPECT_EQ(rows->young[0], std::min(member.tagged(), chunk.tagged()));
  EXPECT_EQ(rows->young[1], std::max(member.tagged(), chunk.tagged()));
}

TEST(HotRowsFile, IsReadInItsFirstVersion) {
  const auto rows = DecodeHotRows(WithChecksum("cairnkc1\2\0\3abc\2\1d\1\0\1x"s), kMost);
  ASSERT_TRUE(rows.ok()) << rows.status().text();
  ASSERT_EQ(rows->kept.size(), 2u);
  ASSERT_EQ(rows->young.size(), 1u);
  EXPECT_EQ(rows->kept[1], "abd");
  EXPECT_EQ(rows->young[0], "x");
}

TEST(HotRowsFile, IsCompressed) {
  HotRows rows;
  for (int i = 0; i < 10'000; ++i) rows.kept.Add("a key with a number of digits:" + std::to_string(100'000 + i));
  const std::string bytes = EncodeHotRows(rows);
  EXPECT_LT(bytes.size(), 20'000u);
  const auto read = DecodeHotRows(bytes, kMost);
  ASSERT_TRUE(read.ok()) << read.status().text();
  ASSERT_EQ(read->kept.size(), 10'000u);
  EXPECT_EQ(read->kept[9'999], rows.kept[9'999]);
  EXPECT_FALSE(DecodeHotRows(bytes, 30'000).ok());  // the names take 40,000 bytes or more
}

TEST(HotRowsFile, SortsNamesByTheirBytes) {
  RowNames names = RowsOf({"b", "ab", "a"}).kept;
  names.Sort();
  EXPECT_EQ(names[0], "a");
  EXPECT_EQ(names[2], "b");
}

// Nothing may be read from a file that a crash or a bad disk has changed.
TEST(HotRowsFile, RefusesEveryDamagedByteAndEveryCut) {
  const std::string bytes = EncodeHotRows(RowsOf({"abc", "abd"}));
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 1;
    EXPECT_FALSE(DecodeHotRows(damaged, kMost).ok()) << i;
    EXPECT_FALSE(DecodeHotRows(bytes.substr(0, i), kMost).ok()) << i;
  }
  // `shared` beyond the last name, a size beyond the end, an empty name, bytes after the last name; no frame.
  for (const std::string& body :
       {"cairnkc1\1\1\1x\0"s, "cairnkc1\1\0\3x\0"s, "cairnkc1\1\0\0\0"s, "cairnkc1\0\0x"s, "cairnkc2\0\0"s}) {
    EXPECT_FALSE(DecodeHotRows(WithChecksum(body), kMost).ok());
  }
}

TEST(HotRowsFile, RefusesNamesThatTakeMoreThanTheLimitBecauseTheyShareBytes) {
  std::string body = "cairnkc1\x80\x01\0\x80\x80\x01"s + std::string(16384, 'x');  // 128 names of 16 KB
  for (int i = 1; i < 128; ++i) body += "\x80\x80\x01\0"s;
  body += '\0';
  EXPECT_TRUE(DecodeHotRows(WithChecksum(body), 4 * kMost).ok());
  EXPECT_FALSE(DecodeHotRows(WithChecksum(body), kMost).ok());
}

class HotRowsDirTest : public StoreFixture {};

TEST_F(HotRowsDirTest, IsReplacedAsAWholeAndIgnoredIfTooLarge) {
  const auto none = ReadHotRows(dir(), 1 << 20);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->size(), 0u);
  ASSERT_TRUE(WriteHotRows(dir(), RowsOf({"a", "b"})).ok());
  ASSERT_TRUE(WriteHotRows(dir(), RowsOf({"c"})).ok());
  const auto rows = ReadHotRows(dir(), 1 << 20);
  ASSERT_TRUE(rows.ok()) << rows.status().text();
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->kept[0], "c");
  EXPECT_FALSE(std::filesystem::exists(dir() + "/key-cache.tmp"));
  EXPECT_FALSE(ReadHotRows(dir(), 10).ok());
}

}  // namespace
}  // namespace cairn
