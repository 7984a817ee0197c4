// SPDX-License-Identifier: BSD-3-Clause
//
// SetBuilder: a whole new set, collected in memory and then replied or stored (SUNION, SDIFFSTORE,
// the rest a large SPOP leaves behind, RESTORE).
//
// It takes the form the members ask for, as a set that grew from nothing would: integers while
// there is nothing else and not too many; then, when stored, packed or spread by the limits.
// Members that are not all integers keep the order they came in.
//
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/hash.h"
#include "base/result.h"
#include "types/keyspace.h"
#include "types/set.h"

namespace cairn {

// For hash sets of members, asked with a view.
struct MemberHash {
  using is_transparent = void;
  size_t operator()(std::string_view member) const { return Hash64(member); }
};

class SetBuilder {
 public:
  explicit SetBuilder(const Limits& limits) : limits_(limits) {}

  // True when the member is new.
  bool Add(std::string_view member);
  // From here on the set is one that holds, or once held, more than a few integers.
  void GiveUpIntegers() {
    if (only_integers_) TurnToTexts();
  }
  uint64_t size() const { return integers_.size() + texts_.size(); }
  const Limits& limits() const { return limits_; }

  // Every member until the visitor answers false; integers ascending.
  Status ForEach(MemberVisitor visit) const;

  // Replaces whatever `entry` found under `key`; no members remove it.
  Status StoreTo(Keyspace& keyspace, const Key& key, const KeyEntry& entry, int64_t expire_ms) const;

 private:
  bool AddText(std::string_view member);
  void TurnToTexts();
  std::vector<int64_t> Ascending() const;
  bool PacksInto(std::string& payload) const;

  const Limits& limits_;
  bool only_integers_ = true;
  absl::flat_hash_set<int64_t> integers_;                                     // while only_integers_
  std::deque<std::string> texts_;                                             // after that; never moves its elements
  absl::flat_hash_set<std::string_view, MemberHash, std::equal_to<>> index_;  // views texts_
};

}  // namespace cairn
