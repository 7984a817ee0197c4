// SPDX-License-Identifier: BSD-3-Clause
//
// Intersections and differences of sets.
//
// One set is walked, and the others are asked about each of its members. A set that is asked often, and is not much
// larger than the number of questions, is first read into memory in one walk. A large spread set answers each question
// with a point read. Nothing is collected here: members go to the visitor as they are found.
//
// Thread: that of the transaction.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "types/set.h"

namespace cairn {

// A set of more members is never read into memory to answer questions, and a command reads no more members in all.
inline constexpr uint64_t kMaxLoadedMembers = 64 * 1024;
inline constexpr uint64_t kMaxLoadedInAll = 16 * kMaxLoadedMembers;
// The members of a source in one record that count as one step of the work budget.
inline constexpr uint64_t kPackedPerStep = 16;

// Visits the members common to all sets, in the order of the smallest set, until the visitor returns false. REQUIRES:
// all sets exist.
Status IntersectSets(std::span<Set> sets, MemberVisitor visit);

// Visits the members of `first` that none of `others` has, in `first`'s order.
Status SubtractSets(const Set& first, std::span<Set> others, MemberVisitor visit);

}  // namespace cairn
