// SPDX-License-Identifier: BSD-3-Clause
#include "types/set_algebra.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "types/set_builder.h"

namespace cairn {
namespace {

// Walking a set's rows costs this many times less per member than a lookup.
constexpr uint64_t kWalkAdvantage = 2;
// A lookup in a set in one record reads the record: more lookups than this cost more than a walk.
constexpr uint64_t kFewLookups = 16;

// A set that answers membership questions.
class Probe {
 public:
  explicit Probe(const Set& set) : set_(set) {}

  // `questions` is the maximum number of questions. Reads the set into memory if that is cheaper and `room` allows it.
  Status Prepare(uint64_t questions, LoadRoom& room) {
    const bool are_few = set_.is_spread() ? set_.size() > kWalkAdvantage * questions : questions < kFewLookups;
    if (are_few || !room.TakeMembers(set_.size())) return Ok();
    TRY(set_.ForEach([&](std::string_view member) -> Result<bool> {
      is_loaded_ = room.TakeBytes(member);
      if (is_loaded_) members_.emplace(member);
      return is_loaded_;
    }));
    if (!is_loaded_) members_.clear();
    return Ok();
  }

  Result<bool> Has(std::string_view member) const {
    return is_loaded_ ? Result<bool>(members_.contains(member)) : set_.Contains(member, Access::kPeek);
  }

 private:
  const Set& set_;
  bool is_loaded_ = false;
  absl::flat_hash_set<std::string, MemberHash, std::equal_to<>> members_;
};

Result<std::vector<Probe>> PrepareProbes(CommandMemory& memory, std::span<Set* const> sets, uint64_t questions) {
  std::vector<Probe> probes;
  probes.reserve(sets.size());
  LoadRoom room(memory);
  for (const Set* set : sets) TRY(probes.emplace_back(*set).Prepare(questions, room));
  return probes;
}

}  // namespace

Status IntersectSets(CommandMemory& memory, std::span<Set> sets, MemberVisitor visit) {
  std::vector<Set*> by_size;
  for (Set& set : sets) by_size.push_back(&set);
  std::stable_sort(by_size.begin(), by_size.end(), [](const Set* a, const Set* b) { return a->size() < b->size(); });
  const Set& smallest = *by_size.front();
  const auto probes = TRY(PrepareProbes(memory, std::span(by_size).subspan(1), smallest.size()));
  return smallest.ForEach([&](std::string_view member) -> Result<bool> {
    for (const Probe& probe : probes) {
      if (!TRY(probe.Has(member))) return true;
    }
    return visit(member);
  });
}

Status SubtractSets(CommandMemory& memory, const Set& first, std::span<Set> others, MemberVisitor visit) {
  std::vector<Set*> by_size;
  for (Set& set : others) {
    if (set.exists()) by_size.push_back(&set);
  }
  // The largest set is the most likely to have a member.
  std::stable_sort(by_size.begin(), by_size.end(), [](const Set* a, const Set* b) { return a->size() > b->size(); });
  const auto probes = TRY(PrepareProbes(memory, by_size, first.size()));
  return first.ForEach([&](std::string_view member) -> Result<bool> {
    for (const Probe& probe : probes) {
      if (TRY(probe.Has(member))) return true;
    }
    return visit(member);
  });
}

}  // namespace cairn
