// SPDX-License-Identifier: BSD-3-Clause
//
// A database number as an argument (MOVE, COPY, SWAPDB). Redis has different errors, checked in this order, for a text
// that is not a number, a number beyond 32 bits, and a number that is not a database.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/number.h"
#include "base/result.h"
#include "command/args.h"
#include "command/context.h"
#include "storage/store.h"

namespace cairn {

// Parses the next argument as a database of this server.
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
