// SPDX-License-Identifier: BSD-3-Clause
//
// ElementsReply: the reply of most sorted set commands, an array of elements.
//
//   without scores          member, member ...
//   with scores, flat       member, score, member, score ...      RESP2
//   with scores, in pairs   [member, score], [member, score] ...  RESP3
//
// The length is written after all elements. Thread: that of the reply.
#pragma once

#include <cstdint>
#include <string_view>

#include "resp/reply.h"

namespace cairn {

enum class ElementForm : unsigned char { kMembers, kFlat, kPairs };

// The form of elements in this protocol, with or without scores.
inline ElementForm FormOf(const Reply& reply, bool with_scores) {
  if (!with_scores) return ElementForm::kMembers;
  return reply.protocol() == 2 ? ElementForm::kFlat : ElementForm::kPairs;
}

class ElementsReply {
 public:
  ElementsReply(Reply& reply, ElementForm form) : reply_(reply), form_(form), mark_(reply.Later()) {}

  const Reply& reply() const { return reply_; }

  // A visitor of elements; it ends the walk if the reply was cut. Const because visitors must be.
  bool operator()(std::string_view member, double score) const {
    if (form_ == ElementForm::kPairs) reply_.Array(2);
    reply_.Bulk(member);
    if (form_ != ElementForm::kMembers) reply_.Double(score);
    ++count_;
    return !reply_.is_cut();
  }

  // Writes the array's head. Call it once, at the end.
  void Finish() const { reply_.FinishArray(mark_, form_ == ElementForm::kFlat ? 2 * count_ : count_); }

 private:
  Reply& reply_;
  const ElementForm form_;
  const size_t mark_;
  mutable uint64_t count_ = 0;
};

}  // namespace cairn
