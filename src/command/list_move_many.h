// SPDX-License-Identifier: BSD-3-Clause
//
// Moves of several items between lists: what LMOVEM and BLMOVEM share.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "command/args.h"
#include "command/context.h"
#include "resp/reply.h"
#include "types/list_items.h"

namespace cairn {

struct MoveManyArgs {
  std::string_view source;
  std::string_view destination;
  ListEnd from = ListEnd::kHead;
  ListEnd to = ListEnd::kHead;
  uint64_t count = 1;
  bool is_exact = false;  // EXACTLY: fewer items than `count` are not moved
  bool is_bulk = false;   // BULK: the items keep their order; OBO: each is pushed in front of the previous one
};

// Parses source destination LEFT|RIGHT LEFT|RIGHT.
MoveManyArgs ReadMoveManyKeys(Args& args);
// Parses [COUNT|EXACTLY count OBO|BULK], the last arguments.
Status ReadMoveManyCount(Args& args, MoveManyArgs& move);

// Moves the items, replicates the move and replies with an array of the items in the order of the destination. Returns
// false, without a reply, if the source has too few items.
Result<bool> MoveMany(CommandContext& ctx, const MoveManyArgs& move, Reply& reply);

}  // namespace cairn
