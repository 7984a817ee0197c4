// SPDX-License-Identifier: BSD-3-Clause
//
// Packed collections: appended values are read back, and a reader of damaged bytes only ends or reports corruption.
// golden_test.cc checks the bytes themselves.
#include "encoding/packed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace cairn {
namespace {

constexpr int64_t kMinInt64 = std::numeric_limits<int64_t>::min();
constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

std::vector<std::string> ReadTexts(std::string_view payload) {
  PackedReader reader(payload);
  std::vector<std::string> texts;
  Item item;
  while (reader.Next(item)) texts.push_back(item.ToString());
  EXPECT_TRUE(reader.status().ok()) << reader.status().text();
  return texts;
}

// An item may be stored as an integer only if its digits are exactly the client's text.
TEST(Item, IsAnIntegerOnlyInCanonicalForm) {
  for (const char* text : {"0", "-1", "10", "4611686018427387903", "-4611686018427387903"}) {
    EXPECT_TRUE(Item::FromText(text).is_integer()) << text;
    EXPECT_EQ(Item::FromText(text).ToString(), text);
  }
  for (const char* text : {"", "-", "-0", "01", "+1", " 1", "1 ", "1.0", "1e3", "4611686018427387904",
                           "-4611686018427387904", "9223372036854775807", "99999999999999999999"}) {
    EXPECT_FALSE(Item::FromText(text).is_integer()) << text;
    EXPECT_EQ(Item::FromText(text).ToString(), text);
  }
}

TEST(Item, IntegersAndTextsAreNeverEqual) {
  EXPECT_EQ(Item::FromText("7"), Item(int64_t{7}));
  EXPECT_FALSE(Item::FromText("7") == Item::FromText("07"));
  EXPECT_FALSE(Item(std::string_view("7")) == Item(int64_t{7}));
}

TEST(PackedReader, ReadsAppendedItems) {
  const std::vector<std::string> texts = {
      "", "a", "0", "-5", "007", std::string(300, 'x'), std::string("\0\xff", 2), "4611686018427387904"};
  std::string payload(1, static_cast<char>(texts.size()));
  for (const std::string& text : texts) AppendItem(payload, text);
  EXPECT_EQ(PackedReader(payload).count(), texts.size());
  EXPECT_EQ(ReadTexts(payload), texts);
}

TEST(PackedReader, ScoresAreRestoredBitByBit) {
  const std::vector<double> scores = {0.0,   -0.0,   1,        -1,       1.5, 9007199254740992.0, 9007199254740994.0,
                                      1e308, 5e-324, HUGE_VAL, -HUGE_VAL};
  std::string payload(1, '\0');
  for (const double score : scores) AppendScore(payload, score);
  PackedReader reader(payload);
  for (const double score : scores) {
    double read = 0;
    ASSERT_TRUE(reader.NextScore(read));
    EXPECT_EQ(read, score);
    EXPECT_EQ(std::signbit(read), std::signbit(score));
  }
}

// Editors cut at offset(), so it must be exactly between two items.
TEST(PackedReader, OffsetBracketsEachItem) {
  std::string payload(1, 3);
  std::vector<size_t> ends;
  for (const char* text : {"abc", "12", ""}) {
    AppendItem(payload, text);
    ends.push_back(payload.size());
  }
  PackedReader reader(payload);
  EXPECT_EQ(reader.offset(), 1u);
  Item item;
  for (const size_t end : ends) {
    ASSERT_TRUE(reader.Next(item));
    EXPECT_EQ(reader.offset(), end);
  }
  EXPECT_FALSE(reader.Next(item));
}

TEST(PackedIntegers, AreReadBackOverTheWholeRange) {
  const std::vector<int64_t> values = {kMinInt64, kMinInt64 + 1, -300, -1, 0, 1, 1000000, kMaxInt64};
  PackedIntegersWriter writer(values.size());
  for (const int64_t value : values) writer.Add(value);
  const std::string payload = writer.Take();
  PackedIntegersReader reader(payload);
  for (const int64_t value : values) {
    int64_t read = 0;
    ASSERT_TRUE(reader.Next(read));
    EXPECT_EQ(read, value);
  }
  int64_t more;
  EXPECT_FALSE(reader.Next(more));
  EXPECT_TRUE(reader.status().ok());
}

// Neighbouring integers cost one byte each.
TEST(PackedIntegers, NeighboursAreSmall) {
  PackedIntegersWriter writer(100);
  for (int64_t value = 1000000; value < 1000100; ++value) writer.Add(value);
  EXPECT_LT(writer.Take().size(), 105u);
}

TEST(PackedIntegers, ADistanceBeyond64BitsIsCorrupt) {
  PackedIntegersWriter writer(2);
  writer.Add(kMinInt64);
  writer.Add(kMaxInt64);
  std::string payload = writer.Take();
  payload[1] = 1;  // now the first is -1, and the next nine bytes are a distance
  payload.erase(2, 9);
  PackedIntegersReader reader(payload);
  int64_t value;
  ASSERT_TRUE(reader.Next(value));
  EXPECT_FALSE(reader.Next(value));
  EXPECT_TRUE(reader.status().Is(Code::kCorruption));
}

// Reads a payload with every reader; the sanitizers check the accesses.
void ReadAll(std::string_view payload) {
  Item item;
  double score;
  int64_t value;
  uint64_t steps = 0;
  PackedReader items(payload);
  while (items.Next(item)) ++steps;
  PackedReader pairs(payload);
  while (pairs.Next(item) && pairs.NextScore(score)) ++steps;
  PackedIntegersReader integers(payload);
  while (integers.Next(value)) ++steps;
  EXPECT_LE(steps, 3 * payload.size() + 3) << "a reader went on without bytes";
}

TEST(Packed, DamagedBytesNeverCauseReadsBehindThem) {
  Random random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string payload(1, 20);
    for (int i = 0; i < 20; ++i) {
      AppendItem(payload, std::string(random.Below(20), 'x'));
      if (random.Below(2)) AppendScore(payload, static_cast<double>(random.Next()) / 3);
    }
    payload.resize(random.Below(payload.size() + 1));
    for (uint64_t flips = random.Below(4); flips > 0 && !payload.empty(); --flips) {
      payload[random.Below(payload.size())] = static_cast<char>(random.Next());
    }
    // An allocation of the exact size, so that sanitizers see an access behind it.
    const std::vector<char> exact(payload.begin(), payload.end());
    ReadAll({exact.data(), exact.size()});
  }
}

}  // namespace
}  // namespace cairn
