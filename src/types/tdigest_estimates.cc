// SPDX-License-Identifier: BSD-3-Clause
//
// The estimates of a t-digest. A node stands for its weight of numbers around its mean, so an estimate interpolates
// between neighbouring means. A node of weight 1 is one number, which lies exactly at its mean. The minimum and the
// maximum are known exactly: an end node of more weight has one number there.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/assert.h"
#include "types/tdigest.h"

namespace cairn {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double Weight(const TDigest::Node& node) { return static_cast<double>(node.weight); }

// The weighted mean, but never outside of both numbers.
double Average(double a, double weight_a, double b, double weight_b) {
  const double weight = weight_a + weight_b;
  double mean = (a * weight_a + b * weight_b) / weight;
  if (!std::isfinite(mean)) mean = a * (weight_a / weight) + b * (weight_b / weight);  // of the largest numbers
  return std::clamp(mean, std::min(a, b), std::max(a, b));
}

}  // namespace

double TDigest::Quantile(double fraction) const {
  ASSERT(unmerged_nodes() == 0, "an estimate of a digest that is not compressed");
  ASSERT(fraction >= 0 && fraction <= 1, "no fraction");
  if (nodes_.empty()) return kNone;
  if (nodes_.size() == 1) return nodes_[0].mean;
  return ValueAt(fraction * static_cast<double>(merged_weight_));
}

double TDigest::QuantileFromMin(double fraction) const {
  const bool is_before_first = nodes_.size() > 1 && fraction * static_cast<double>(merged_weight_) < 1;
  return is_before_first ? min_ : Quantile(fraction);
}

// The number at a position among the sorted numbers, which may be between two of them. REQUIRES: two nodes or more
double TDigest::ValueAt(double index) const {
  const auto total = static_cast<double>(merged_weight_);
  const Node& first = nodes_.front();
  const Node& last = nodes_.back();
  const double half_first = Weight(first) / 2;
  const double half_last = Weight(last) / 2;
  if (first.weight > 1 && index < half_first) {
    return min_ + (index - 1) / (half_first - 1) * (first.mean - min_);
  }
  if (index > total - 1) return max_;
  if (last.weight > 1 && total - index <= half_last) {
    return max_ - (total - index - 1) / (half_last - 1) * (max_ - last.mean);
  }
  double before = half_first;  // the weight up to the mean of node i
  for (size_t i = 0; i + 1 < nodes_.size(); ++i) {
    const Node& left = nodes_[i];
    const Node& right = nodes_[i + 1];
    const double between = (Weight(left) + Weight(right)) / 2;
    if (before + between <= index) {
      before += between;
      continue;
    }
    const double from_left = index - before;
    const double to_right = before + between - index;
    if (left.weight == 1 && from_left < 0.5) return left.mean;
    if (right.weight == 1 && to_right <= 0.5) return right.mean;
    return Average(left.mean, to_right - (right.weight == 1 ? 0.5 : 0), right.mean,
                   from_left - (left.weight == 1 ? 0.5 : 0));
  }
  const double beyond = index - total - half_last;
  return Average(last.mean, beyond, max_, half_last - beyond);
}

double TDigest::Cdf(double value) const {
  ASSERT(unmerged_nodes() == 0, "an estimate of a digest that is not compressed");
  if (nodes_.empty()) return kNone;
  if (value < min_) return 0;
  if (value > max_) return 1;
  if (nodes_.size() == 1) return 0.5;
  const auto total = static_cast<double>(merged_weight_);
  const Node& first = nodes_.front();
  const Node& last = nodes_.back();
  if (value < first.mean) {
    if (value == min_) return 0.5 / total;
    return (1 + (value - min_) / (first.mean - min_) * (Weight(first) / 2 - 1)) / total;
  }
  if (value > last.mean) {
    if (value == max_) return 1 - 0.5 / total;
    return 1 - (1 + (max_ - value) / (max_ - last.mean) * (Weight(last) / 2 - 1)) / total;
  }
  return CdfBetween(value);
}

// REQUIRES: the value is not below the first mean nor above the last, of two nodes or more
double TDigest::CdfBetween(double value) const {
  const auto total = static_cast<double>(merged_weight_);
  double before = 0;  // the weight of the nodes before node i
  for (size_t i = 0; i + 1 < nodes_.size(); ++i) {
    const Node& left = nodes_[i];
    const Node& right = nodes_[i + 1];
    if (left.mean == value) {
      double equal = 0;
      for (size_t at = i; at < nodes_.size() && nodes_[at].mean == value; ++at) equal += Weight(nodes_[at]);
      return (before + equal / 2) / total;
    }
    if (left.mean > value || value >= right.mean) {
      before += Weight(left);
      continue;
    }
    if (left.weight == 1 && right.weight == 1) return (before + 1) / total;
    const double left_excess = left.weight == 1 ? 0.5 : 0;
    const double right_excess = right.weight == 1 ? 0.5 : 0;
    const double between = (Weight(left) + Weight(right)) / 2 - left_excess - right_excess;
    const double inside = between * (value - left.mean) / (right.mean - left.mean);
    return (before + Weight(left) / 2 + left_excess + inside) / total;
  }
  return 1 - 0.5 / total;
}

double TDigest::TrimmedMean(double low, double high) const {
  ASSERT(unmerged_nodes() == 0, "an estimate of a digest that is not compressed");
  if (nodes_.empty()) return kNone;
  if (nodes_.size() == 1) return nodes_[0].mean;
  const double begin = std::floor(static_cast<double>(merged_weight_) * low);
  const double end = std::ceil(static_cast<double>(merged_weight_) * high);
  double before = 0;
  double sum = 0;
  double count = 0;
  for (const Node& node : nodes_) {
    double taken = Weight(node);
    taken -= std::min(std::max(0.0, begin - before), taken);
    taken = std::min(std::max(0.0, end - before), taken);
    before += Weight(node);
    sum += node.mean * taken;
    count += taken;
    if (before >= end) break;
  }
  return sum / count;
}

}  // namespace cairn
