// SPDX-License-Identifier: BSD-3-Clause
//
// t-digests: they have RedisBloom's nodes, estimate within the error, survive their encoding, and refuse damaged ones.
#include "types/tdigest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace cairn {
namespace {

std::string ErrorOf(std::string_view payload) {
  const Result<TDigest> digest = TDigest::Decode(payload);
  return digest.ok() ? "" : std::string(digest.status().text());
}

TDigest Compressed(TDigest digest) {
  digest.Compress();
  return digest;
}

// The numbers are those that RedisBloom's own test expects: another scale or capacity would change them.
TEST(TDigest, HasTheNodesOfRedisBloom) {
  TDigest digest(100);
  for (int i = 1; i <= 10'000; ++i) ASSERT_TRUE(digest.Add(i));
  EXPECT_EQ(digest.capacity(), 610u);
  EXPECT_EQ(digest.merged_nodes(), 51u);
  EXPECT_EQ(digest.unmerged_nodes(), 422u);
  EXPECT_EQ(digest.merged_weight(), 9578);
  EXPECT_EQ(digest.unmerged_weight(), 422);
  EXPECT_EQ(digest.compressions(), 17u);
}

TEST(TDigest, EstimatesWithinTheError) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> numbers;
  TDigest digest(200);
  for (int i = 0; i < 50'000; ++i) {
    numbers.push_back(std::exp(normal(random)));
    ASSERT_TRUE(digest.Add(numbers.back()));
  }
  std::sort(numbers.begin(), numbers.end());
  digest.Compress();
  EXPECT_LT(digest.merged_nodes(), 400u);
  const auto size = static_cast<double>(numbers.size());
  for (const double fraction : {0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999}) {
    const double value = numbers[static_cast<size_t>(fraction * size)];
    const double error = 0.02 * fraction * (1 - fraction) + 0.0002;
    EXPECT_NEAR(digest.Cdf(value), fraction, error);
    EXPECT_NEAR(digest.Cdf(digest.Quantile(fraction)), fraction, error);
  }
  EXPECT_EQ(digest.Quantile(0), numbers.front());
  EXPECT_EQ(digest.Quantile(1), numbers.back());
  double sum = 0;
  for (size_t i = numbers.size() / 10; i < numbers.size() * 9 / 10; ++i) sum += numbers[i];
  EXPECT_NEAR(digest.TrimmedMean(0.1, 0.9), sum / (size * 0.8), 0.01);
}

TEST(TDigest, MergesWithTheWeightsOfTheOther) {
  TDigest digest(100);
  TDigest other(50);
  for (int i = 0; i < 5'000; ++i) {
    digest.Add(i);
    other.Add(5'000 + i);
  }
  ASSERT_TRUE(digest.Merge(other));
  EXPECT_EQ(digest.weight(), 10'000);
  EXPECT_EQ(digest.compression(), 100);
  EXPECT_NEAR(Compressed(digest).Quantile(0.5), 5'000, 50);
  EXPECT_EQ(digest.max(), 9'999);
}

// Doubling a digest must end with an error and not with a negative weight.
TEST(TDigest, RefusesWeightsBeyond64Bits) {
  TDigest digest(100);
  ASSERT_TRUE(digest.Add(1, INT64_MAX - 1));
  ASSERT_TRUE(digest.Add(2, 1));
  EXPECT_FALSE(digest.Add(3, 1));
  EXPECT_FALSE(digest.Merge(digest));
  EXPECT_EQ(digest.weight(), INT64_MAX);
}

// The difference of two such numbers is no double.
TEST(TDigest, KeepsFiniteMeansOfTheLargestNumbers) {
  TDigest digest(1);
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(digest.Add(i % 2 == 0 ? 1.7e308 : -1.7e308));
  digest.Compress();
  EXPECT_EQ(ErrorOf(digest.Encode()), "");
  EXPECT_FALSE(std::isnan(digest.Quantile(0.5)));
}

TEST(TDigest, IsTheSameAfterItsEncoding) {
  std::mt19937 random(7);
  TDigest digest(20);
  for (int i = 0; i < 1'000; ++i) {
    digest.Add(i % 3 == 0 ? static_cast<double>(random()) : std::ldexp(static_cast<double>(random()), -40));
    const std::string bytes = digest.Encode();
    const Result<TDigest> decoded = TDigest::Decode(bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.status().text();
    ASSERT_EQ(decoded->Encode(), bytes);
    ASSERT_EQ(decoded->weight(), digest.weight());
    ASSERT_EQ(decoded->min(), digest.min());
  }
}

TEST(TDigest, HasTheBytesOfTheFormat) {
  TDigest digest(100);
  EXPECT_EQ(digest.Encode(), std::string("\x64\0\0\0", 4));
  digest.Add(1, 2);
  digest.Add(2.5);
  digest.Compress();
  digest.Add(4);
  EXPECT_EQ(digest.Encode(), std::string("\x64\x01\x02\x01\x03\x09\x03\x02\0\x40\x04\0\0\0\0\0\0\x01\x09\x01", 20));
}

TEST(TDigest, ReportsTheInvalidFieldOfAPayload) {
  EXPECT_EQ(ErrorOf(""), "t-digest: compression is cut short");
  EXPECT_EQ(ErrorOf(std::string("\0\0\0\0", 4)), "t-digest: compression is out of range");
  EXPECT_EQ(ErrorOf("\x91\x4e"), "t-digest: compression is out of range") << "10,001";
  EXPECT_EQ(ErrorOf("\x01"), "t-digest: compressions is cut short");
  EXPECT_EQ(ErrorOf("\x01\x01"), "t-digest: merged is cut short");
  EXPECT_EQ(ErrorOf("\x01\x01\x01"), "t-digest: unmerged is cut short");
  EXPECT_EQ(ErrorOf("\x01\x01\x08\x09"), "t-digest: more nodes than its capacity");
  EXPECT_EQ(ErrorOf("\x01\x01\x01\x01\x03"), "t-digest: min or max is cut short");
  EXPECT_EQ(ErrorOf("\x01\x01\x01\x01\x05\x03"), "t-digest: min or max is out of range");
  const std::string front("\x01\x01\x01\0\x03\x03", 6);
  EXPECT_EQ(ErrorOf(front), "t-digest: a node is cut short");
  EXPECT_EQ(ErrorOf(front + "\x03\x01"), "");
  EXPECT_EQ(ErrorOf(front + "\x03\x01\x01"), "t-digest: bytes after the nodes");
  EXPECT_EQ(ErrorOf(front + std::string("\x03\0", 2)), "t-digest: a weight is out of range");
  EXPECT_EQ(ErrorOf(front + "\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "t-digest: a weight is out of range");
  EXPECT_EQ(ErrorOf(front + std::string("\0\x7f\xf0\0\0\0\0\0\0\x01", 10)), "t-digest: a mean is not finite");
}

// Bytes from a RESTORE payload: any of them may be damaged.
TEST(TDigest, SurvivesDamagedPayloads) {
  std::mt19937 random(7);
  TDigest digest(20);
  for (int i = 0; i < 200; ++i) digest.Add(static_cast<double>(random()));
  const std::string good = digest.Encode();
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    for (unsigned n = 1 + random() % 3; n > 0; --n) bytes[random() % bytes.size()] = static_cast<char>(random());
    Result<TDigest> decoded = TDigest::Decode(bytes);
    if (!decoded.ok()) continue;
    decoded->Compress();
    decoded->Quantile(0.3);
    decoded->Cdf(1e9);
    decoded->TrimmedMean(0.1, 0.5);
  }
}

}  // namespace
}  // namespace cairn
