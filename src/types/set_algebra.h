// SPDX-License-Identifier: BSD-3-Clause
//
// Intersections and differences of sets.
//
// One set is walked, and the others are asked about each of its members. A set that is asked often, and is not much
// larger than the number of questions, is first read into memory in one walk, as far as `memory` allows. A large spread
// set answers each question with a point read. Nothing else is collected here: members go to the visitor as they are
// found.
//
// Thread: that of the transaction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "storage/command_memory.h"
#include "types/set.h"

namespace cairn {

// A set of more members is never read into memory to answer questions.
inline constexpr uint64_t kMaxLoadedMembers = 64 * 1024;

// The members that a command may still read into memory to answer questions: their number, and their bytes.
class LoadRoom {
 public:
  explicit LoadRoom(CommandMemory& memory) : spare_(memory) {}

  // Takes room for the members of a set, or returns false if they are too many.
  bool TakeMembers(uint64_t count) {
    if (count > std::min(members_, kMaxLoadedMembers)) return false;
    members_ -= count;
    return true;
  }
  // Takes room for one of these members, or returns false if its bytes are too many.
  bool TakeBytes(std::string_view member) { return spare_.Take(kBytesOfMember + member.size()); }

 private:
  static constexpr uint64_t kBytesOfMember = 64;  // in a container, besides its characters

  uint64_t members_ = 16 * kMaxLoadedMembers;
  SpareMemory spare_;
};

// The members of a source in one record that count as one step of the work budget.
inline constexpr uint64_t kPackedPerStep = 16;

// Visits the members common to all sets, in the order of the smallest set, until the visitor returns false. REQUIRES:
// all sets exist.
Status IntersectSets(CommandMemory& memory, std::span<Set> sets, MemberVisitor visit);

// Visits the members of `first` that none of `others` has, in `first`'s order.
Status SubtractSets(CommandMemory& memory, const Set& first, std::span<Set> others, MemberVisitor visit);

}  // namespace cairn
