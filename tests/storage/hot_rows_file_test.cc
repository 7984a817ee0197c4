// SPDX-License-Identifier: BSD-3-Clause
#include "storage/hot_rows_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>

#include "base/hash.h"
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

TEST(HotRowsFile, HasTheBytesOfTheFormat) {
  const std::string bytes = EncodeHotRows(RowsOf({"abc", "abd"}, {"x"}));
  EXPECT_EQ(bytes, WithChecksum("cairnkc1\2\0\3abc\2\1d\1\0\1x"s));
  const auto rows = DecodeHotRows(bytes);
  ASSERT_TRUE(rows.ok()) << rows.status().text();
  ASSERT_EQ(rows->kept.size(), 2u);
  ASSERT_EQ(rows->young.size(), 1u);
  EXPECT_EQ(rows->kept[1], "abd");
  EXPECT_EQ(rows->young[0], "x");
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
    EXPECT_FALSE(DecodeHotRows(damaged).ok()) << i;
    EXPECT_FALSE(DecodeHotRows(bytes.substr(0, i)).ok()) << i;
  }
  // `shared` beyond the last name, a size beyond the end, an empty name, bytes after the last name.
  for (const std::string& body : {"cairnkc1\1\1\1x\0"s, "cairnkc1\1\0\3x\0"s, "cairnkc1\1\0\0\0"s, "cairnkc1\0\0x"s}) {
    EXPECT_FALSE(DecodeHotRows(WithChecksum(body)).ok());
  }
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
