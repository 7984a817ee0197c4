// SPDX-License-Identifier: BSD-3-Clause
//
// ACL categories: the @names for groups of commands in COMMAND, COMMAND LIST and access rules.
//
// As in Redis, a command's categories follow from its row: from its flags (write, read, admin, dangerous, pubsub,
// blocking, and fast or slow for every command), from its group (keyspace, string, ...), and from the row's `acl`
// column for the rest. A container that only holds subcommands belongs to no group.
//
// Thread: any; pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "command/table.h"

namespace cairn {

// Every category's name, without the @, in Redis's order.
std::span<const std::string_view> AclCategoryNames();

// A command's categories as bits, by position in AclCategoryNames().
uint32_t AclCategoriesOf(const Command& command);

// The bit of a category; 0 if no category has this name. Case-insensitive.
uint32_t AclCategoryBit(std::string_view name);

}  // namespace cairn
