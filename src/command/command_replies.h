// SPDX-License-Identifier: BSD-3-Clause
//
// A command's row in the form of COMMAND INFO and COMMAND DOCS, with the fields in Redis's order (Redis's documentation
// of COMMAND, COMMAND DOCS and of key specifications).
//
// Thread: any; pure functions of the table.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "command/table.h"
#include "resp/reply.h"

namespace cairn {

// Replies with an array of ten: name, arity, flags, first key, last key, step, ACL categories, tips, key specifications
// and subcommands.
void ReplyCommand(const Command& command, Reply& reply);

// Replies with a map: summary, since, group, complexity, and the optional fields.
Status ReplyDocs(const Command& command, Reply& reply);

// Replies with the KeyFlag bits as a set of names.
void ReplyKeyFlags(uint16_t flags, Reply& reply);

}  // namespace cairn
