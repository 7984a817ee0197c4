// SPDX-License-Identifier: BSD-3-Clause
//
// TDigest: a t-digest, which estimates quantiles and ranks of numbers that were added one by one (Dunning and Ertl,
// "Computing Extremely Accurate Quantiles Using t-Digests"). It is the merging digest that Redis uses, with its
// capacity, scale and interpolation, so that both give the same estimates.
//
// It keeps nodes, means with weights. The merged nodes come first, sorted by their means; numbers are appended behind
// them. Compress sorts all nodes and merges neighbours while the scale allows: nodes near both ends of the distribution
// stay small. Add compresses when the nodes reach the capacity.
//
// The payload of a key's record (docs/format.md, section 3) is Encode's result. Thread: that of its user; a value.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cairn {

class TDigest {
 public:
  struct Node {
    double mean;
    int64_t weight;  // at least 1
  };

  static constexpr int64_t kDefaultCompression = 100;
  // A digest that keeps more nodes is refused: every change rewrites all of them.
  static constexpr int64_t kMostCompression = 10'000;

  // REQUIRES: 0 < compression <= kMostCompression
  explicit TDigest(int64_t compression) : compression_(compression) {}

  static Result<TDigest> Decode(std::string_view payload);
  std::string Encode() const;

  // Adds a finite number. False if the weights would exceed 64 bits; the digest is then unchanged or compressed.
  bool Add(double value, int64_t weight = 1);
  // Adds the nodes of another digest, compressed. False if the weights would exceed 64 bits.
  bool Merge(TDigest other);
  // Merges the nodes.
  void Compress();
  // Removes everything that was added.
  void Reset() { *this = TDigest(compression_); }
  // Whether nothing has happened since it was made or reset.
  bool IsNew() const { return nodes_.empty() && compressions_ == 0; }

  int64_t compression() const { return compression_; }
  size_t capacity() const { return 6 * static_cast<size_t>(compression_) + 10; }
  size_t merged_nodes() const { return merged_; }
  size_t unmerged_nodes() const { return nodes_.size() - merged_; }
  int64_t merged_weight() const { return merged_weight_; }
  int64_t unmerged_weight() const { return unmerged_weight_; }
  int64_t weight() const { return merged_weight_ + unmerged_weight_; }
  uint64_t compressions() const { return compressions_; }

  // The lowest and the highest number. REQUIRES: weight() > 0
  double min() const { return min_; }
  double max() const { return max_; }

  // ---- estimates; REQUIRES: unmerged_nodes() == 0. NaN if nothing was added.
  // The number at this fraction of the sorted numbers. REQUIRES: 0 <= fraction <= 1
  double Quantile(double fraction) const;
  // The same; numbers before the first one are the minimum.
  double QuantileFromMin(double fraction) const;
  // The fraction of numbers below `value`, plus half of those that equal it.
  double Cdf(double value) const;
  // The mean of the numbers between two fractions of the sorted numbers.
  double TrimmedMean(double low, double high) const;

 private:
  bool MayMerge(double before, double proposed, double total, double scale) const;
  double ValueAt(double index) const;
  double CdfBetween(double value) const;
  Status DecodeNodes(std::string_view payload, uint64_t merged, uint64_t unmerged);

  int64_t compression_;
  uint64_t compressions_ = 0;
  double min_ = std::numeric_limits<double>::max();
  double max_ = std::numeric_limits<double>::lowest();
  std::vector<Node> nodes_;
  size_t merged_ = 0;  // of the nodes
  int64_t merged_weight_ = 0;
  int64_t unmerged_weight_ = 0;
};

}  // namespace cairn
