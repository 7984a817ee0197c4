// SPDX-License-Identifier: BSD-3-Clause
//
// TopKeys: the keys with the largest sums of weights, in bounded memory (Metwally, Agrawal, El Abbadi 2005, "Efficient
// Computation of Frequent and Top-k Elements in Data Streams": Space-Saving, here with weights).
//
// Each of up to `capacity` keys has a sum. A key that is not among them replaces the one with the smallest sum, and
// starts from that sum, which is then its error: its true sum is at least sum - error and at most sum. So a key whose
// share of all weights is more than 1/capacity is never missing. Keys longer than kMostKeyBytes are not kept.
//
// Thread: its owner's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cairn {

class TopKeys {
 public:
  static constexpr size_t kMostKeyBytes = 4096;

  explicit TopKeys(size_t capacity) : capacity_(capacity) {}

  // Adds to the key's sum. O(log capacity).
  void Add(std::string_view key, uint64_t weight);

  struct Sum {
    std::string key;
    uint64_t sum;  // what the key has at least
  };
  // Up to `count` keys, those with the largest sums first.
  std::vector<Sum> Largest(size_t count) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  struct Entry;
  using Entries = std::unordered_map<std::string, Entry, Hash, std::equal_to<>>;
  using Order = std::multimap<uint64_t, std::pair<const std::string, Entry>*>;
  struct Entry {
    uint64_t error = 0;
    Order::iterator place;  // its key there is the sum
  };

  const size_t capacity_;
  Entries entries_;
  Order order_;  // by sum
};

}  // namespace cairn
