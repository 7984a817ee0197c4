// SPDX-License-Identifier: BSD-3-Clause
//
// A database's number as an argument (MOVE, COPY, SWAPDB). Redis refuses, in this order and with
// different words, what is no number, what is no 32-bit number, and what is no database.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/number.h"
#include "base/result.h"
#include "command/args.h"
#include "command/context.h"
#include "storage/store.h"

namespace cairn {

// The next argument as a database of this server.
inline Result<int> ParseDatabase(CommandContext& ctx, Args& args) {
  const int64_t db = args.Integer();
  TRY(args.Check());
  if (db < INT32_MIN || db > INT32_MAX) {
    return Status::Reply("ERR value is out of range, value must between -2147483648 and 2147483647");
  }
  if (db < 0 || db >= ctx.txn().store().databases().size()) return Status::Reply(errors::kDbIndexRange);
  return static_cast<int>(db);
}

}  // namespace cairn
