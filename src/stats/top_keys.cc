// SPDX-License-Identifier: BSD-3-Clause
#include "stats/top_keys.h"

#include <algorithm>
#include <utility>

namespace cairn {

void TopKeys::Add(std::string_view key, uint64_t weight) {
  if (weight == 0 || key.size() > kMostKeyBytes) return;
  if (const auto known = entries_.find(key); known != entries_.end()) {
    Order::node_type node = order_.extract(known->second.place);
    node.key() += weight;
    known->second.place = order_.insert(std::move(node));
    return;
  }
  uint64_t error = 0;
  if (entries_.size() >= capacity_) {
    const auto smallest = order_.begin();
    error = smallest->first;
    entries_.erase(entries_.find(smallest->second->first));
    order_.erase(smallest);
  }
  const auto added = entries_.emplace(key, Entry{error, {}}).first;
  added->second.place = order_.emplace(error + weight, &*added);
}

std::vector<TopKeys::Sum> TopKeys::Largest(size_t count) const {
  std::vector<Sum> sums;
  sums.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) sums.push_back({key, entry.place->first - entry.error});
  std::sort(sums.begin(), sums.end(),
            [](const Sum& a, const Sum& b) { return a.sum != b.sum ? a.sum > b.sum : a.key < b.key; });
  sums.resize(std::min(count, sums.size()));
  return sums;
}

}  // namespace cairn
