// SPDX-License-Identifier: BSD-3-Clause
//
// Estimates of t-digests: TDIGEST.MIN, MAX, QUANTILE, CDF, RANK, REVRANK, BYRANK, BYREVRANK and TRIMMED_MEAN. They
// compress a copy of the digest: a read changes no key.
#include <cmath>
#include <limits>
#include <vector>

#include "command/families.h"
#include "command/fixed.h"
#include "command/tdigest_key.h"

namespace cairn {
namespace {

enum class Order : uint8_t { kAscending, kDescending };
enum class End : uint8_t { kMin, kMax };

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Result<std::vector<double>> ParseNumbers(Args& args, std::string_view error) {
  std::vector<double> numbers;
  while (args.More()) numbers.push_back(args.Float(error));
  TRY(args.Done());
  return numbers;
}

// TDIGEST.MIN key, and TDIGEST.MAX key
Status ReplyEnd(CommandContext& ctx, Args& args, Reply& reply, End end) {
  TDigestKey key(ctx, args.Bytes());
  TRY(key.Open());
  const TDigest& digest = key.digest();
  if (digest.weight() == 0) {
    reply.Double(std::numeric_limits<double>::quiet_NaN());
  } else {
    reply.Double(end == End::kMin ? digest.min() : digest.max());
  }
  return Ok();
}

// TDIGEST.QUANTILE key quantile [quantile ...]
Status TDigestQuantile(CommandContext& ctx, Args& args, Reply& reply) {
  TDigestKey key(ctx, args.Bytes());
  TRY(key.Open());
  std::vector<double> quantiles;
  while (args.More()) {
    quantiles.push_back(args.Float("ERR T-Digest: error parsing quantile"));
    if (quantiles.back() < 0 || quantiles.back() > 1) args.Fail("ERR T-Digest: quantile should be in [0,1]");
  }
  TRY(args.Done());
  TRY(key.CompressFor(quantiles.size()));
  reply.Array(quantiles.size());
  for (const double quantile : quantiles) reply.Double(key.digest().Quantile(quantile));
  return Ok();
}

// TDIGEST.CDF key value [value ...]
Status TDigestCdf(CommandContext& ctx, Args& args, Reply& reply) {
  TDigestKey key(ctx, args.Bytes());
  TRY(key.Open());
  const std::vector<double> values = TRY(ParseNumbers(args, "ERR T-Digest: error parsing cdf"));
  TRY(key.CompressFor(values.size()));
  reply.Array(values.size());
  for (const double value : values) reply.Double(key.digest().Cdf(value));
  return Ok();
}

// The nearest whole number; the lower of two.
double RoundHalfDown(double value) {
  const double whole = std::trunc(value);
  return value - whole <= 0.5 ? whole : whole + 1;
}

// REQUIRES: the digest is compressed
double RankOf(const TDigest& digest, double value, Order order) {
  const auto size = static_cast<double>(digest.weight());
  if (size == 0) return -2;
  if (value < digest.min()) return order == Order::kAscending ? -1 : size;
  if (value > digest.max()) return order == Order::kAscending ? size : -1;
  const double below = digest.Cdf(value) * size;
  return order == Order::kAscending ? RoundHalfDown(below) : size - std::round(below);
}

// The largest weights round up to 2^63, which is beyond an int64.
int64_t ToInteger(double rank) { return rank < 0x1p63 ? static_cast<int64_t>(rank) : INT64_MAX; }

// TDIGEST.RANK key value [value ...], and TDIGEST.REVRANK key value [value ...]
Status ReplyRanks(CommandContext& ctx, Args& args, Reply& reply, Order order) {
  TDigestKey key(ctx, args.Bytes());
  TRY(key.Open());
  const std::vector<double> values = TRY(ParseNumbers(args, "ERR T-Digest: error parsing value"));
  TRY(key.CompressFor(values.size()));
  reply.Array(values.size());
  for (const double value : values) reply.Integer(ToInteger(RankOf(key.digest(), value, order)));
  return Ok();
}

// REQUIRES: the digest is compressed
double ValueOfRank(const TDigest& digest, double rank, Order order) {
  const auto size = static_cast<double>(digest.weight());
  const bool ascending = order == Order::kAscending;
  if (size == 0) return std::numeric_limits<double>::quiet_NaN();
  if (rank == 0) return ascending ? digest.min() : digest.max();
  if (rank >= size) return ascending ? kInfinity : -kInfinity;
  return digest.QuantileFromMin((ascending ? rank : size - rank - 1) / size);
}

// TDIGEST.BYRANK key rank [rank ...], and TDIGEST.BYREVRANK key reverse_rank [reverse_rank ...]
Status ReplyValuesOfRanks(CommandContext& ctx, Args& args, Reply& reply, Order order) {
  TDigestKey key(ctx, args.Bytes());
  TRY(key.Open());
  std::vector<double> ranks;
  while (args.More()) {
    const int64_t rank = args.Integer("ERR T-Digest: error parsing rank");
    if (rank < 0) args.Fail("ERR T-Digest: rank needs to be non negative");
    ranks.push_back(static_cast<double>(rank));
  }
  TRY(args.Done());
  TRY(key.CompressFor(ranks.size()));
  reply.Array(ranks.size());
  for (const double rank : ranks) reply.Double(ValueOfRank(key.digest(), rank, order));
  return Ok();
}

// TDIGEST.TRIMMED_MEAN key low_cut_quantile high_cut_quantile
Status TDigestTrimmedMean(CommandContext& ctx, Args& args, Reply& reply) {
  TDigestKey key(ctx, args.Bytes());
  TRY(key.Open());
  const double low = args.Float("ERR T-Digest: error parsing low_cut_percentile");
  const double high = args.Float("ERR T-Digest: error parsing high_cut_percentile");
  TRY(args.Done());
  if (low < 0 || low > 1 || high < 0 || high > 1) {
    return Status::Reply("ERR T-Digest: low_cut_percentile and high_cut_percentile should be in [0,1]");
  }
  if (low >= high) {
    return Status::Reply("ERR T-Digest: low_cut_percentile should be lower than high_cut_percentile");
  }
  TRY(key.CompressFor(1));
  reply.Double(key.digest().TrimmedMean(low, high));
  return Ok();
}

constexpr auto kGroup = Group::kTDigest;
constexpr uint64_t kFlags = kReadonly | kFast;
constexpr std::string_view kComplexity = "O(N*C) with N arguments and a compression of C";

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "tdigest.min", .arity = 2, .flags = kFlags, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyEnd, End::kMin>, .group = kGroup, .since = "2.4.0",
     .summary = "Returns the lowest number of a t-digest.", .complexity = "O(1)", .syntax = "key"},
    {.name = "tdigest.max", .arity = 2, .flags = kFlags, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyEnd, End::kMax>, .group = kGroup, .since = "2.4.0",
     .summary = "Returns the highest number of a t-digest.", .complexity = "O(1)", .syntax = "key"},
    {.name = "tdigest.quantile", .arity = -3, .flags = kFlags, .keys = {OneKey(kRO | kAccess)}, .run = TDigestQuantile,
     .group = kGroup, .since = "2.4.0", .summary = "Returns estimates of quantiles of a t-digest.",
     .complexity = kComplexity, .syntax = "key quantile:double [quantile:double ...]"},
    {.name = "tdigest.cdf", .arity = -3, .flags = kFlags, .keys = {OneKey(kRO | kAccess)}, .run = TDigestCdf,
     .group = kGroup, .since = "2.4.0",
     .summary = "Returns estimates of the fractions of the numbers of a t-digest that are not above values.",
     .complexity = kComplexity, .syntax = "key value:double [value:double ...]"},
    {.name = "tdigest.rank", .arity = -3, .flags = kFlags, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyRanks, Order::kAscending>, .group = kGroup, .since = "2.4.0",
     .summary = "Returns estimates of the ranks of values in a t-digest.", .complexity = kComplexity,
     .syntax = "key value:double [value:double ...]"},
    {.name = "tdigest.revrank", .arity = -3, .flags = kFlags, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyRanks, Order::kDescending>, .group = kGroup, .since = "2.4.0",
     .summary = "Returns estimates of the ranks of values in a t-digest, counted from the highest number.",
     .complexity = kComplexity, .syntax = "key value:double [value:double ...]"},
    {.name = "tdigest.byrank", .arity = -3, .flags = kFlags, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyValuesOfRanks, Order::kAscending>, .group = kGroup, .since = "2.4.0",
     .summary = "Returns estimates of the numbers of a t-digest that have the ranks.", .complexity = kComplexity,
     .syntax = "key rank [rank ...]"},
    {.name = "tdigest.byrevrank", .arity = -3, .flags = kFlags, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyValuesOfRanks, Order::kDescending>, .group = kGroup, .since = "2.4.0",
     .summary = "Returns estimates of the numbers of a t-digest that have the ranks, counted from the highest number.",
     .complexity = kComplexity, .syntax = "key reverse_rank:integer [reverse_rank:integer ...]"},
    {.name = "tdigest.trimmed_mean", .arity = 4, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)},
     .run = TDigestTrimmedMean, .group = kGroup, .since = "2.4.0",
     .summary = "Returns an estimate of the mean of the numbers between two quantiles.",
     .complexity = "O(C) with a compression of C", .syntax = "key low_cut_quantile:double high_cut_quantile:double"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> TDigestEstimateCommands() { return kRows; }

}  // namespace cairn
