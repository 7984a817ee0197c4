// SPDX-License-Identifier: BSD-3-Clause
//
// The options SET and GETEX share: NX, XX, GET, and the ways to say when the value shall expire.
//
// Redis reads both with one set of rules, and which pairs it refuses is not what one would guess
// (EX may be given twice, EX with PX may not), so both use this one here too.
//
// Thread: any; the options view the request's bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "command/args.h"
#include "command/context.h"

namespace cairn {

enum class TimeUnit : unsigned char { kSeconds, kMilliseconds };

// How an expiry is written: after now, or as a Unix time.
struct ExpiryForm {
  TimeUnit unit;
  bool absolute;
};

struct StringOptions {
  bool if_missing = false;  // NX
  bool if_exists = false;   // XX
  bool get = false;         // GET
  bool keep_ttl = false;    // KEEPTTL
  bool persist = false;     // PERSIST
  bool has_expiry = false;  // EX, PX, EXAT or PXAT
  ExpiryForm form = {};
  std::string_view expiry;  // the number, not read yet: Redis reads it after other checks
};

enum class OptionsOf : unsigned char { kSet, kGetEx };

// All remaining arguments.
Result<StringOptions> ParseStringOptions(Args& args, OptionsOf command);

// The Unix time in ms that `text` says; the error names the running command. Zero and less are
// refused.
Result<int64_t> ParseExpiry(CommandContext& ctx, std::string_view text, ExpiryForm form);

}  // namespace cairn
