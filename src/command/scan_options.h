// SPDX-License-Identifier: BSD-3-Clause
//
// The arguments that SCAN, HSCAN, SSCAN and ZSCAN share: a cursor, then MATCH, COUNT, for SCAN TYPE, for HSCAN
// NOVALUES.
//
// The cursor and the options are read separately because Redis checks them separately: HSCAN refuses an invalid cursor
// before it looks the key up, and invalid options only if the key exists.
//
//   const uint64_t cursor = TRY(ParseScanCursor(args));
//   ... look the key up; missing: reply an empty scan and end ...
//   const ScanOptions options = TRY(ParseScanOptions(args, ScanOf::kMembers));
//
// Thread: any; the options view the request's bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "command/args.h"
#include "encoding/record.h"
#include "resp/reply.h"
#include "storage/command_state.h"

namespace cairn {

struct ScanOptions {
  uint64_t count = 10;     // about how many elements to visit; at least 1
  bool has_match = false;  // also false for MATCH *, which filters nothing
  std::string_view pattern;
  bool no_values = false;  // NOVALUES
  bool has_type = false;
  Type type = Type::kNone;  // kNone with has_type: an unknown type, which matches nothing

  // Whether the element's name matches MATCH.
  bool Matches(std::string_view name) const;
  // The same. Takes the cost from the work budget.
  Result<bool> Matches(CommandState& work, std::string_view name) const;
};

// Whether `pattern` matches all of `text`. Takes the cost from the work budget: with a hostile pattern, it is the
// product of both lengths.
Result<bool> SpendOnGlob(CommandState& work, std::string_view pattern, std::string_view text);

// Parses a cursor: any number within 64 bits.
Result<uint64_t> ParseScanCursor(Args& args);

// What is scanned: TYPE is an option for keys, NOVALUES for the fields of a hash.
enum class ScanOf : unsigned char { kKeys, kFields, kMembers };

// Parses all remaining arguments.
Result<ScanOptions> ParseScanOptions(Args& args, ScanOf of);

// Starts the reply: an array of two, and its first element, the cursor. The caller then writes the array of elements.
void ReplyScanCursor(Reply& reply, uint64_t cursor);

}  // namespace cairn
