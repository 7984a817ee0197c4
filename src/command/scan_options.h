// SPDX-License-Identifier: BSD-3-Clause
//
// The arguments that SCAN, HSCAN, SSCAN and ZSCAN share: a cursor, then MATCH, COUNT and, for SCAN,
// TYPE.
//
// The two are read apart because Redis checks them apart: HSCAN refuses a bad cursor before it
// looks the key up, and bad options only when there is a key to scan.
//
//   const uint64_t cursor = TRY(ParseScanCursor(args));
//   ... look the key up; missing: reply an empty scan and end ...
//   const ScanOptions options = TRY(ParseScanOptions(args, /*keys=*/false));
//
// Thread: any; the options view the request's bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "command/args.h"
#include "encoding/record.h"
#include "resp/reply.h"

namespace cairn {

struct ScanOptions {
  uint64_t count = 10;     // about how many elements to look at; at least 1
  bool has_match = false;  // false also for MATCH *, which filters nothing
  std::string_view pattern;
  bool has_type = false;
  Type type = Type::kNone;  // kNone with has_type: a name no type has; nothing matches

  // Whether the element's name passes MATCH.
  bool Matches(std::string_view name) const;
};

// A cursor as a client sent it; any number within 64 bits.
Result<uint64_t> ParseScanCursor(Args& args);

// All remaining arguments. `keys`: TYPE is allowed.
Result<ScanOptions> ParseScanOptions(Args& args, bool keys);

// The reply's start: an array of two, of which this writes the first, the cursor. What follows is
// the array of elements.
void ReplyScanCursor(Reply& reply, uint64_t cursor);

}  // namespace cairn
