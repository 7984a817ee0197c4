// SPDX-License-Identifier: BSD-3-Clause
//
// A written field reads back and does not change its neighbours; overflow has three modes.
#include "types/bitfield.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"

namespace cairn {
namespace {

bool BitOf(std::string_view bytes, uint64_t offset) {
  return static_cast<uint8_t>(bytes[offset >> 3]) >> (7 - (offset & 7)) & 1;
}

TEST(Bitfield, TypesAreParsed) {
  EXPECT_EQ(ParseFieldType("i64")->bits, 64u);
  EXPECT_TRUE(ParseFieldType("i1")->is_signed);
  EXPECT_EQ(ParseFieldType("u63")->bits, 63u);
  for (const char* bad : {"", "i", "u64", "i65", "i0", "u-1", "x8", "U8", "i08", "u8 "}) {
    EXPECT_FALSE(ParseFieldType(bad)) << bad;
  }
}

TEST(Bitfield, ReadsTheMostSignificantBitFirst) {
  const std::string bytes("\x69\x00\xff", 3);
  EXPECT_EQ(ReadField(bytes, 1, {false, 4}), 13);
  EXPECT_EQ(ReadField(bytes, 1, {true, 4}), -3);
  EXPECT_EQ(ReadField(bytes, 16, {true, 16}), -256);  // zeros beyond the end
  EXPECT_EQ(ReadField(bytes, 100, {false, 63}), 0);
}

TEST(Bitfield, WrittenFieldsReadBackAndNeighboursAreUnchanged) {
  Random luck(5);
  for (int round = 0; round < 3000; ++round) {
    const bool is_signed = luck.Below(2) == 1;
    const FieldType type{is_signed, static_cast<unsigned>(1 + luck.Below(is_signed ? 64 : 63))};
    const uint64_t offset = luck.Below(50);
    std::string bytes((offset + type.bits + 7) / 8, '\0');
    for (char& byte : bytes) byte = static_cast<char>(luck.Next());
    const std::string before = bytes;
    const int64_t value = *FitField(type, static_cast<int64_t>(luck.Next()), 0, Overflow::kWrap);
    WriteField(bytes, offset, type, value);
    ASSERT_EQ(ReadField(bytes, offset, type), value);
    for (uint64_t bit = 0; bit < bytes.size() * 8; ++bit) {
      if (bit >= offset && bit < offset + type.bits) continue;
      ASSERT_EQ(BitOf(bytes, bit), BitOf(before, bit));
    }
  }
}

TEST(Bitfield, OverflowWrapsSaturatesOrFails) {
  EXPECT_EQ(FitField({false, 8}, 250, 10, Overflow::kWrap), 4);
  EXPECT_EQ(FitField({false, 8}, 250, 10, Overflow::kSaturate), 255);
  EXPECT_EQ(FitField({false, 8}, 250, 10, Overflow::kFail), std::nullopt);
  EXPECT_EQ(FitField({false, 8}, 2, -3, Overflow::kSaturate), 0);
  EXPECT_EQ(FitField({false, 8}, -1, 0, Overflow::kSaturate), 255);  // -1 as an unsigned number
  EXPECT_EQ(FitField({true, 8}, 127, 1, Overflow::kWrap), -128);
  EXPECT_EQ(FitField({true, 8}, -128, -1, Overflow::kSaturate), -128);
  constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(FitField({true, 64}, kHighest, 1, Overflow::kWrap), -kHighest - 1);
  EXPECT_EQ(FitField({true, 64}, kHighest, kHighest, Overflow::kSaturate), kHighest);
  EXPECT_EQ(FitField({true, 64}, kHighest, 0, Overflow::kFail), kHighest);
}

}  // namespace
}  // namespace cairn
