// SPDX-License-Identifier: BSD-3-Clause
//
// A command's row as COMMAND INFO and COMMAND DOCS tell it, field by field as Redis lays them out
// (Redis's documentation of COMMAND, COMMAND DOCS and of key specifications).
//
// Thread: any; pure functions of the table.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "command/table.h"
#include "resp/reply.h"

namespace cairn {

// An array of ten: name, arity, flags, first key, last key, step, ACL categories, tips, key
// specifications and subcommands.
void ReplyCommand(const Command& command, Reply& reply);

// A map: summary, since, group, complexity, and what else there is to say.
Status ReplyDocs(const Command& command, Reply& reply);

// KeyFlag bits as a set of names.
void ReplyKeyFlags(uint16_t flags, Reply& reply);

}  // namespace cairn
