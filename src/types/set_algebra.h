// SPDX-License-Identifier: BSD-3-Clause
//
// What two or more sets have in common, and what one has that others have not.
//
// One set is walked and the others are asked about each of its members. A set that is asked often and is not much
// larger than the number of questions is first read into memory in one walk; a large spread one answers with a point
// read each. Nothing is collected here: members go to the visitor as they are found.
//
// Thread: the transaction's.
#pragma once

#include <span>

#include "base/result.h"
#include "types/set.h"

namespace cairn {

// The members all sets have, in the order of the smallest, until the visitor answers false. REQUIRES: all exist.
Status IntersectSets(std::span<Set> sets, MemberVisitor visit);

// The members of `first` that none of `others` has, in `first`'s order.
Status SubtractSets(const Set& first, std::span<Set> others, MemberVisitor visit);

}  // namespace cairn
