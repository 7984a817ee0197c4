// SPDX-License-Identifier: BSD-3-Clause
//
// Unions, intersections and differences of sorted sets. Plain sets take part as if each member had the score 1.
//
// The order in which scores are combined decides the last bits of a sum, so it is Redis's: unions and intersections
// take the sources from the smallest to the largest. The sum of opposite infinities, and an infinity with a weight of
// 0, would be NaN; Redis takes 0 instead.
//
// Thread: that of the transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "types/keyspace.h"
#include "types/member_hash.h"
#include "types/set.h"
#include "types/set_algebra.h"
#include "types/zset.h"

namespace cairn {

using ScoresByMember = std::unordered_map<std::string, double, MemberHash, std::equal_to<>>;

// One input: a sorted set, a set, or a missing key.
class ZsetSource {
 public:
  // Returns WRONGTYPE for any other type. The key must outlive the source.
  static Result<ZsetSource> Find(Keyspace& keys, const Key& key);

  uint64_t size() const { return zset_ ? zset_->size() : set_ ? set_->size() : 0; }
  Status ForEach(ScoredVisitor visit);
  Result<std::optional<double>> Score(std::string_view member);
  // Announces how many times Score will be called. Reads the source into memory if that is cheaper and `room` allows
  // it.
  Status Expect(uint64_t questions, LoadRoom& room);

  double weight = 1;

 private:
  bool is_spread() const { return zset_ ? zset_->spread() : set_->is_spread(); }

  std::optional<Zset> zset_;
  std::optional<Set> set_;
  std::optional<ScoresByMember> loaded_;
};

// kCount: the sum of the weights of the sources that have the member, whatever its scores.
enum class Aggregate : uint8_t { kSum, kMin, kMax, kCount };

// Returns all members of all sources, in a sorted set's order. `memory` counts them.
Result<std::vector<ScoredMember>> UniteZsets(CommandMemory& memory, std::vector<ZsetSource> sources,
                                             Aggregate aggregate);

// Visits the members that all sources have, in no particular order. `memory` counts sources that are read into memory.
Status IntersectZsets(CommandMemory& memory, std::vector<ZsetSource> sources, Aggregate aggregate, ScoredVisitor visit);

// Returns the members of the first source that no other source has, with their scores, in a sorted set's order.
// `memory` counts them.
Result<std::vector<ScoredMember>> SubtractZsets(CommandMemory& memory, std::vector<ZsetSource> sources);

}  // namespace cairn
