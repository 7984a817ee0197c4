// SPDX-License-Identifier: BSD-3-Clause
//
// SetBuilder: a completely new set, collected in memory and then replied or stored (SUNION, SDIFFSTORE, the rest after
// a large SPOP, RESTORE).
//
// Its form depends on the members, like that of a set built by SADD: integers while all members are integers and not
// too many; otherwise, when stored, packed or spread by the limits. Members that are not all integers keep their order.
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
#include "base/result.h"
#include "types/keyspace.h"
#include "types/member_hash.h"
#include "types/set.h"

namespace cairn {

class SetBuilder {
 public:
  // The keyspace's command uses the memory of the members.
  explicit SetBuilder(Keyspace& keyspace) : keyspace_(keyspace), limits_(keyspace.limits()) {}

  // Returns true if the member is new.
  bool Add(std::string_view member);
  // Stops using the integer form: the set has, or once had, too many integers for it.
  void GiveUpIntegers() {
    if (only_integers_) TurnToTexts();
  }
  uint64_t size() const { return integers_.size() + texts_.size(); }
  const Limits& limits() const { return limits_; }

  // Visits every member until the visitor returns false; integers ascending.
  Status ForEach(MemberVisitor visit) const;

  // Stores the set in the keyspace, in place of what `entry` found under `key`; an empty set removes the key.
  Status StoreTo(const Key& key, const KeyEntry& entry, int64_t expire_ms) const;

 private:
  bool AddText(std::string_view member);
  void TurnToTexts();
  std::vector<int64_t> Ascending() const;
  bool PacksInto(std::string& payload, bool& is_large) const;

  Keyspace& keyspace_;
  const Limits& limits_;
  bool only_integers_ = true;
  bool is_large_ = false;                                                     // see MostPackedBytes
  absl::flat_hash_set<int64_t> integers_;                                     // while only_integers_
  std::deque<std::string> texts_;                                             // otherwise; references stay valid
  absl::flat_hash_set<std::string_view, MemberHash, std::equal_to<>> index_;  // views texts_
};

}  // namespace cairn
