// SPDX-License-Identifier: BSD-3-Clause
//
// ACL categories: the @names by which COMMAND, COMMAND LIST and access rules speak of many commands
// at once.
//
// A category follows from what a row says anyway, as in Redis: from its flags (write, read, admin,
// dangerous, pubsub, blocking, and fast or slow for everything), from its group (keyspace, string,
// ...), and from the row's `acl` column for what neither tells. A container that only holds
// subcommands belongs to no group.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "command/table.h"

namespace cairn {

// Every category's name, without the @, in the order Redis lists them.
std::span<const std::string_view> AclCategoryNames();

// The categories of a command as bits, by their position in AclCategoryNames().
uint32_t AclCategoriesOf(const Command& command);

// The bit of a category; 0 when there is none of this name. Upper and lower case are the same.
uint32_t AclCategoryBit(std::string_view name);

}  // namespace cairn
