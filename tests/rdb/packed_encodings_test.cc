// SPDX-License-Identifier: BSD-3-Clause
//
// Listpacks, ziplists, zipmaps and intsets: the bytes are Redis's, and redundant fields must agree.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rdb/intset.h"
#include "rdb/listpack.h"
#include "rdb/ziplist.h"
#include "tests/rdb/hex.h"

namespace cairn {
namespace {

using Texts = std::vector<std::string>;
using ReadFunction = Status (*)(std::string_view bytes, RdbItems& items);

// The items that a reader returns, or the text of its error.
Texts Read(ReadFunction read, std::string_view bytes) {
  RdbItems items;
  const Status status = read(bytes, items);
  if (!status.ok()) return {std::string(status.text())};
  Texts texts;
  for (const Item& item : items.all()) texts.push_back(item.ToString());
  return texts;
}

std::string Listpack(const Texts& texts) {
  ListpackWriter writer;
  for (const std::string& text : texts) writer.AddText(text);
  const size_t announced = writer.size_bytes();
  std::string bytes = writer.Take();
  EXPECT_EQ(announced, bytes.size());
  return bytes;
}

TEST(Listpack, HasTheBytesOfTheExample) {
  EXPECT_EQ(Listpack({"1", "a"}), FromHex("0c000000 0200 01 01 81 61 02 ff"));
  EXPECT_EQ(Listpack({}), FromHex("07000000 0000 ff"));
}

// At every boundary between two forms: integers of each width and texts of each length.
TEST(Listpack, HoldsEveryKindOfItem) {
  Texts texts;
  for (const int bits : {7, 12, 13, 15, 16, 23, 24, 31, 32, 61, 62}) {
    for (int64_t near = -2; near <= 2; ++near) {
      texts.push_back(std::to_string((int64_t{1} << bits) + near));
      texts.push_back(std::to_string(-(int64_t{1} << bits) + near));
    }
  }
  for (const char* text :
       {"9223372036854775807", "-9223372036854775808", "9223372036854775808", "0", "-0", "007", ""}) {
    texts.push_back(text);
  }
  for (const int size : {1, 63, 64, 125, 126, 127, 4095, 4096, 16375, 16376, 16377, 16378, 16379, 70000, 2097146}) {
    texts.push_back(std::string(size, 'x'));
  }
  EXPECT_EQ(Read(ReadListpack, Listpack(texts)), texts);
}

TEST(Listpack, HoldsMoreItemsThanItsCounterCanCount) {
  const Texts texts(70000, "x");
  EXPECT_EQ(Listpack(texts).substr(4, 2), "\xff\xff");
  EXPECT_EQ(Read(ReadListpack, Listpack(texts)), texts);
}

TEST(Listpack, RedundantFieldsMustAgree) {
  const auto read = [](std::string_view hex) { return Read(ReadListpack, FromHex(hex)); };
  EXPECT_EQ(read(""), Texts{"listpack: no end"});
  EXPECT_EQ(read("0d000000 0200 01 01 81 61 02 ff"), Texts{"listpack: the length is wrong"});
  EXPECT_EQ(read("0c000000 0300 01 01 81 61 02 ff"), Texts{"listpack: the count does not match the entries"});
  EXPECT_EQ(read("0c000000 0200 01 02 81 61 02 ff"), Texts{"listpack: the back length of an entry is wrong"});
  EXPECT_EQ(read("0c000000 0200 01 01 87 61 02 ff"), Texts{"listpack: an entry is cut short"});
  EXPECT_EQ(read("0c000000 0200 01 01 f5 61 02 ff"), Texts{"listpack: an entry of unknown kind"});
  EXPECT_EQ(read("0c000000 0200 01 01 81 61 02 fe"), Texts{"listpack: no end"});
  EXPECT_EQ(read("0c000000 0100 f0 ffffffff ff"), Texts{"listpack: an entry is cut short"});
}

TEST(Ziplist, HoldsEveryKindOfItem) {
  // "hi", 1024 (16 bits), -1 (8 bits), 12 (in the head), 100000 (24 bits), 2^31-1, 2^40
  const std::string bytes = FromHex(
      "34000000 27000000 0700  00 02 6869  04 c0 0004  04 fe ff  03 fd  02 f0 a08601  05 d0 "
      "ffffff7f"
      "06 e0 0000000000010000 ff");
  std::string sized = bytes;
  sized[0] = static_cast<char>(bytes.size());
  sized[4] = static_cast<char>(bytes.size() - 11);
  EXPECT_EQ(Read(ReadZiplist, sized), (Texts{"hi", "1024", "-1", "12", "100000", "2147483647", "1099511627776"}));
}

// An entry of 300 bytes has a 14-bit length, and the next entry has 300 in the long form.
TEST(Ziplist, HoldsLongTexts) {
  const std::string text(297, 'x');
  const std::string large(20000, 'y');
  std::string bytes = FromHex("00000000 00000000 0300 00 4129") + text + FromHex("fe 2c010000 80 00004e20") + large;
  const size_t tail = bytes.size();
  bytes += FromHex("fe 2a4e0000 f1 ff");
  bytes.replace(0, 8, FromHex("674f0000 604f0000"));
  ASSERT_EQ(tail, 0x4f60u);
  ASSERT_EQ(bytes.size(), 0x4f67u);
  EXPECT_EQ(Read(ReadZiplist, bytes), (Texts{text, large, "0"}));
}

TEST(Ziplist, RedundantFieldsMustAgree) {
  const auto read = [](std::string_view hex) { return Read(ReadZiplist, FromHex(hex)); };
  EXPECT_EQ(read("0f000000 0c000000 0200 00 f2 02 f3 ff"), (Texts{"1", "2"}));
  EXPECT_EQ(read("0e000000 0c000000 0200 00 f2 02 f3 ff"), Texts{"ziplist: the length is wrong"});
  EXPECT_EQ(read("0f000000 0a000000 0200 00 f2 02 f3 ff"), Texts{"ziplist: the tail offset is wrong"});
  EXPECT_EQ(read("0f000000 0c000000 0300 00 f2 02 f3 ff"), Texts{"ziplist: the count does not match the entries"});
  EXPECT_EQ(read("0f000000 0c000000 0200 00 f2 03 f3 ff"), Texts{"ziplist: the previous entry's size is wrong"});
  EXPECT_EQ(read("0f000000 0c000000 0200 00 f2 02 ff ff"), Texts{"ziplist: an entry of unknown kind"});
  EXPECT_EQ(read("0f000000 0c000000 0200 00 f2 02 05 ff"), Texts{"ziplist: an entry is cut short"});
  EXPECT_EQ(read("0f000000 0c000000 0200 00 f2 02 f3 fe"), Texts{"ziplist: no end"});
}

TEST(Zipmap, HoldsFieldsAndValuesWithUnusedBytes) {
  EXPECT_EQ(Read(ReadZipmap, FromHex("02 03 666f6f 03 00 626172 05 68656c6c6f 05 02 776f726c64 0000 ff")),
            (Texts{"foo", "bar", "hello", "world"}));
  const std::string text(300, 'x');
  const std::string bytes = FromHex("01 01 66 fe 2c010000 00") + text + FromHex("ff");
  EXPECT_EQ(Read(ReadZipmap, bytes), (Texts{"f", text}));
}

TEST(Zipmap, RefusesBytesThatRedisDoesNotWrite) {
  const auto read = [](std::string_view hex) { return Read(ReadZipmap, FromHex(hex)); };
  EXPECT_EQ(read("02 01 66 01 00 76 ff"), Texts{"zipmap: the count does not match the fields"});
  EXPECT_EQ(read("01 01 66 05 00 76 ff"), Texts{"zipmap: an entry is cut short or has a wrong size"});
  EXPECT_EQ(read("01 fe 01000000 66 01 00 76 ff"), Texts{"zipmap: an entry is cut short or has a wrong size"});
  EXPECT_EQ(read("01 01 66 01 00 76 fe"), Texts{"zipmap: no end"});
}

TEST(Intset, UsesTheWidthOfTheWidestInteger) {
  EXPECT_EQ(WriteIntset(std::vector<int64_t>{1, 2}), FromHex("02000000 02000000 0100 0200"));
  for (const int64_t widest : {int64_t{32767}, int64_t{32768}, int64_t{1} << 31, INT64_MAX}) {
    const std::vector<int64_t> integers = {-widest - 1, -1, 0, widest};
    Texts texts;
    for (const int64_t value : integers) texts.push_back(std::to_string(value));
    EXPECT_EQ(Read(ReadIntset, WriteIntset(integers)), texts);
  }
}

TEST(Intset, MustAscend) {
  const auto read = [](std::string_view hex) { return Read(ReadIntset, FromHex(hex)); };
  EXPECT_EQ(read("02000000 02000000 0200 0100"), Texts{"intset: not ascending"});
  EXPECT_EQ(read("02000000 02000000 0100 0100"), Texts{"intset: not ascending"});
  EXPECT_EQ(read("03000000 02000000 0100 0200"), Texts{"intset: unknown width"});
  EXPECT_EQ(read("02000000 03000000 0100 0200"), Texts{"intset: the length is wrong"});
  EXPECT_EQ(read("08000000 ffffffff 0100 0200"), Texts{"intset: the length is wrong"});
}

}  // namespace
}  // namespace cairn
