// SPDX-License-Identifier: BSD-3-Clause
//
// What the commands that take items from one list, or from the first non-empty one of several, share with their
// blocking forms. LMOVEM and BLMOVEM are in command/list_move_many.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "command/args.h"
#include "command/context.h"
#include "resp/reply.h"
#include "types/list.h"

namespace cairn {

// Replies with an item as a bulk string.
void ReplyItem(Reply& reply, const Item& item);

// The name of the event for a push or a pop at an end of a list.
std::string_view PushEvent(ListEnd end);
std::string_view PopEvent(ListEnd end);

// Parses LEFT or RIGHT; anything else is a syntax error.
ListEnd ReadListEnd(Args& args);

// numkeys key [key ...] LEFT|RIGHT [COUNT count]: all arguments of LMPOP, and the last ones of BLMPOP.
struct PopManyArgs {
  std::span<const std::string_view> keys;
  ListEnd end = ListEnd::kHead;
  uint64_t count = 1;
};
Result<PopManyArgs> ReadPopManyArgs(Args& args);

// Pops an item from one list, pushes it to the other or the same one, and replies with it. Returns false, without a
// reply, if the source does not exist.
Result<bool> MoveItem(CommandContext& ctx, std::string_view source, std::string_view destination, ListEnd from,
                      ListEnd to, Reply& reply);

// Pops up to `count` items from the first list that exists and replies with its key and an array of the items. Returns
// false, without a reply, if no list exists.
Result<bool> PopMany(CommandContext& ctx, const PopManyArgs& args, Reply& reply);

}  // namespace cairn
