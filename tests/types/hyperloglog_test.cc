// SPDX-License-Identifier: BSD-3-Clause
//
// Both encodings hold the same registers, estimates are close, and corrupt runs are detected.
#include "types/hyperloglog.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace cairn {
namespace {

using Change = HyperLogLog::Change;

constexpr uint64_t kSparseMax = 3000;

HllRegisters RegistersOf(const HyperLogLog& value) {
  HllRegisters registers{};
  EXPECT_TRUE(value.MergeInto(registers));
  return registers;
}

TEST(HyperLogLog, BeginsSparseAndEmpty) {
  const HyperLogLog value;
  EXPECT_EQ(value.bytes(), std::string("HYLL\1\0\0\0\0\0\0\0\0\0\0\0\x7f\xff", 18));
  EXPECT_FALSE(value.IsDense());
  EXPECT_EQ(value.CachedCount(), 0u);
  EXPECT_EQ(value.Count(), 0u);
  EXPECT_EQ(value.DescribeRuns(), "Z:16384");
}

TEST(HyperLogLog, SplitsAndJoinsRuns) {
  HyperLogLog value;
  EXPECT_EQ(value.Raise(100, 3, kSparseMax), Change::kRaised);
  EXPECT_EQ(value.DescribeRuns(), "Z:100 v:3,1 Z:16283");
  EXPECT_EQ(value.Raise(102, 3, kSparseMax), Change::kRaised);
  EXPECT_EQ(value.Raise(101, 3, kSparseMax), Change::kRaised);
  EXPECT_EQ(value.DescribeRuns(), "Z:100 v:3,3 Z:16281");
  EXPECT_EQ(value.Raise(101, 2, kSparseMax), Change::kNone);
  EXPECT_EQ(value.Raise(101, 5, kSparseMax), Change::kRaised);
  EXPECT_EQ(value.DescribeRuns(), "Z:100 v:3,1 v:5,1 v:3,1 Z:16281");
  EXPECT_EQ(value.Raise(0, 1, kSparseMax), Change::kRaised);
  EXPECT_EQ(value.Raise(16383, 32, kSparseMax), Change::kRaised);
  EXPECT_EQ(value.DescribeRuns(), "v:1,1 Z:99 v:3,1 v:5,1 v:3,1 Z:16280 v:32,1");
}

TEST(HyperLogLog, BecomesDenseByValueAndBySize) {
  HyperLogLog value;
  EXPECT_EQ(value.Raise(7, 33, kSparseMax), Change::kRaised);
  EXPECT_TRUE(value.IsDense());
  HyperLogLog small;
  EXPECT_EQ(small.Raise(7, 3, 18), Change::kRaised);
  EXPECT_TRUE(small.IsDense());
  EXPECT_EQ(RegistersOf(small)[7], 3);
}

TEST(HyperLogLog, SparseAndDenseAgree) {
  Random luck(3);
  HyperLogLog sparse;
  HyperLogLog dense;
  ASSERT_TRUE(dense.MakeDense());
  for (int i = 0; i < 4000; ++i) {
    const size_t index = luck.Below(kHllRegisters);
    const auto value = static_cast<uint8_t>(1 + luck.Below(32));
    EXPECT_EQ(sparse.Raise(index, value, 1'000'000), dense.Raise(index, value, 0));
  }
  EXPECT_FALSE(sparse.IsDense());
  EXPECT_EQ(RegistersOf(sparse), RegistersOf(dense));
  EXPECT_EQ(sparse.Count(), dense.Count());
  ASSERT_TRUE(sparse.MakeDense());
  EXPECT_EQ(sparse.bytes(), dense.bytes());
}

TEST(HyperLogLog, EstimatesAreClose) {
  HyperLogLog value;
  for (int i = 1; i <= 100'000; ++i) {
    (void)value.Add(std::to_string(i), kSparseMax);
    if (i != 100 && i != 10'000 && i != 100'000) continue;
    EXPECT_NEAR(static_cast<double>(*value.Count()), i, 0.03 * i);
  }
}

TEST(HyperLogLog, CachesTheCountUntilARegisterRises) {
  HyperLogLog value;
  value.CacheCount(0x123456789a);
  EXPECT_EQ(value.CachedCount(), 0x123456789au);
  (void)value.Raise(1, 1, kSparseMax);
  EXPECT_EQ(value.CachedCount(), std::nullopt);
}

TEST(HyperLogLog, DetectsCorruptValues) {
  EXPECT_FALSE(HyperLogLog::Parse("HYLL"));
  EXPECT_FALSE(HyperLogLog::Parse(std::string(16, 'x')));
  const std::string good = HyperLogLog().bytes();
  std::string dense = good;
  dense[4] = 0;  // but not the length
  EXPECT_FALSE(HyperLogLog::Parse(dense));
  const auto longer = HyperLogLog::Parse(good + "hello");
  ASSERT_TRUE(longer);
  EXPECT_EQ(longer->Count(), std::nullopt);
  auto shorter = HyperLogLog::Parse(good.substr(0, 16) + "\x05");
  ASSERT_TRUE(shorter);
  EXPECT_EQ(shorter->Count(), std::nullopt);
  EXPECT_EQ(shorter->Raise(6, 1, kSparseMax), Change::kCorrupt);
  EXPECT_EQ(shorter->Raise(6, 40, kSparseMax), Change::kCorrupt);
}

}  // namespace
}  // namespace cairn
