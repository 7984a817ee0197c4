// SPDX-License-Identifier: BSD-3-Clause
//
// What the commands that take items from one list, or from the first of several that has any, share
// with their blocking forms.
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

// What befalls a list that gains or loses items at an end.
std::string_view PushEvent(ListEnd end);
std::string_view PopEvent(ListEnd end);

// LEFT or RIGHT; anything else is a syntax error.
ListEnd ReadListEnd(Args& args);

// numkeys key [key ...] LEFT|RIGHT [COUNT count], all of LMPOP's arguments and the rest of
// BLMPOP's.
struct PopManyArgs {
  std::span<const std::string_view> keys;
  ListEnd end = ListEnd::kHead;
  uint64_t count = 1;
};
Result<PopManyArgs> ReadPopManyArgs(Args& args);

// Takes an item from one list, pushes it to another or the same, and replies with it. False, and no
// reply, when the source does not exist.
Result<bool> MoveItem(CommandContext& ctx, std::string_view source, std::string_view destination, ListEnd from,
                      ListEnd to, Reply& reply);

// Takes up to `count` items from the first list that exists and replies with the key and an array
// of them. False, and no reply, when there is none.
Result<bool> PopMany(CommandContext& ctx, const PopManyArgs& args, Reply& reply);

}  // namespace cairn
