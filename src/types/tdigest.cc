// SPDX-License-Identifier: BSD-3-Clause
#include "types/tdigest.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "encoding/packed.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

Status Corrupt(std::string_view what) { return Status::Corruption("t-digest: " + std::string(what)); }

// Adds a node to another one with a mean that is not higher.
void MergeInto(TDigest::Node& target, const TDigest::Node& node) {
  const auto added = static_cast<double>(node.weight);
  const auto before = static_cast<double>(target.weight);
  target.weight += node.weight;
  const auto after = static_cast<double>(target.weight);
  const double delta = (node.mean - target.mean) * added;
  // The difference of two large numbers, or its product, may exceed a double.
  target.mean =
      std::isfinite(delta) ? target.mean + delta / after : target.mean * (before / after) + node.mean * (added / after);
}

}  // namespace

Result<TDigest> TDigest::Decode(std::string_view payload) {
  uint64_t compression = 0;
  uint64_t merged = 0;
  uint64_t unmerged = 0;
  if (!ReadVarint(payload, compression)) return Corrupt("compression is cut short");
  if (compression == 0 || compression > kMostCompression) return Corrupt("compression is out of range");
  TDigest digest(static_cast<int64_t>(compression));
  if (!ReadVarint(payload, digest.compressions_)) return Corrupt("compressions is cut short");
  if (!ReadVarint(payload, merged)) return Corrupt("merged is cut short");
  if (!ReadVarint(payload, unmerged)) return Corrupt("unmerged is cut short");
  if (merged > digest.capacity() || unmerged > digest.capacity() - merged)
    return Corrupt("more nodes than its capacity");
  TRY(digest.DecodeNodes(payload, merged, unmerged));
  return digest;
}

Status TDigest::DecodeNodes(std::string_view payload, uint64_t merged, uint64_t unmerged) {
  const uint64_t count = merged + unmerged;
  if (count > 0) {
    if (!ReadScore(payload, min_) || !ReadScore(payload, max_)) return Corrupt("min or max is cut short");
    if (!std::isfinite(min_) || !std::isfinite(max_) || min_ > max_) return Corrupt("min or max is out of range");
  }
  int64_t total = 0;
  nodes_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    Node node{};
    uint64_t weight = 0;
    if (!ReadScore(payload, node.mean) || !ReadVarint(payload, weight)) return Corrupt("a node is cut short");
    if (!std::isfinite(node.mean)) return Corrupt("a mean is not finite");
    if (weight == 0 || weight > static_cast<uint64_t>(INT64_MAX - total)) return Corrupt("a weight is out of range");
    node.weight = static_cast<int64_t>(weight);
    total += node.weight;
    (i < merged ? merged_weight_ : unmerged_weight_) += node.weight;
    nodes_.push_back(node);
  }
  merged_ = merged;
  return payload.empty() ? Ok() : Corrupt("bytes after the nodes");
}

std::string TDigest::Encode() const {
  std::string payload;
  AppendVarint(payload, static_cast<uint64_t>(compression_));
  AppendVarint(payload, compressions_);
  AppendVarint(payload, merged_nodes());
  AppendVarint(payload, unmerged_nodes());
  if (nodes_.empty()) return payload;
  AppendScore(payload, min_);
  AppendScore(payload, max_);
  for (const Node& node : nodes_) {
    AppendScore(payload, node.mean);
    AppendVarint(payload, static_cast<uint64_t>(node.weight));
  }
  return payload;
}

bool TDigest::Add(double value, int64_t weight) {
  if (nodes_.size() >= capacity() - 1) Compress();
  if (nodes_.size() >= capacity() || weight > INT64_MAX - this->weight()) return false;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  nodes_.push_back({value, weight});
  unmerged_weight_ += weight;
  return true;
}

bool TDigest::Merge(TDigest other) {
  Compress();
  other.Compress();
  return std::all_of(other.nodes_.begin(), other.nodes_.end(),
                     [this](const Node& node) { return Add(node.mean, node.weight); });
}

// Whether a node of weight `proposed`, behind nodes of weight `before`, is within the scale. The scale allows a node at
// the quantile q a weight in proportion to q * (1 - q).
bool TDigest::MayMerge(double before, double proposed, double total, double scale) const {
  const double size = proposed * scale;
  const double from = before / total;
  const double to = (before + proposed) / total;
  return size <= from * (1 - from) && size <= to * (1 - to);
}

void TDigest::Compress() {
  if (unmerged_nodes() == 0) return;
  std::stable_sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) { return a.mean < b.mean; });
  const auto total = static_cast<double>(weight());
  if (total > 1) {
    const double scale = static_cast<double>(compression_) / (2 * std::numbers::pi * total * std::log(total));
    size_t last = 0;
    double before = 0;
    for (size_t i = 1; i < nodes_.size(); ++i) {
      Node& target = nodes_[last];
      const double proposed = static_cast<double>(target.weight) + static_cast<double>(nodes_[i].weight);
      if (MayMerge(before, proposed, total, scale)) {
        MergeInto(target, nodes_[i]);
      } else {
        before += static_cast<double>(target.weight);
        nodes_[++last] = nodes_[i];
      }
    }
    nodes_.resize(last + 1);
  }
  merged_ = nodes_.size();
  merged_weight_ = weight();
  unmerged_weight_ = 0;
  ++compressions_;
}

}  // namespace cairn
