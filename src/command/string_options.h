// SPDX-License-Identifier: BSD-3-Clause
//
// The options that SET, GETEX, MSETEX and INCREX share: conditions, GET, and the forms of the expiry time.
//
// Redis parses these commands by the same rules, and the refused combinations are not obvious (EX may be repeated, EX
// with PX may not), so they share this parser too.
//
// Thread: any; the options view the request's bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "command/args.h"
#include "command/context.h"
#include "command/value_condition.h"

namespace cairn {

enum class TimeUnit : unsigned char { kSeconds, kMilliseconds };

// The form of an expiry: relative to now, or a Unix time.
struct ExpiryForm {
  TimeUnit unit;
  bool absolute;
};

struct StringOptions {
  bool if_missing = false;   // NX
  bool if_exists = false;    // XX
  bool get = false;          // GET
  bool keep_ttl = false;     // KEEPTTL
  bool persist = false;      // PERSIST
  ValueCondition condition;  // IFEQ and similar options
  bool has_expiry = false;   // EX, PX, EXAT or PXAT
  ExpiryForm form = {};
  std::string_view expiry;  // not parsed yet: Redis parses it after other checks
};

enum class OptionsOf : unsigned char { kSet, kGetEx, kMSetEx, kIncrEx };

// Reads one option of the command; false if the next argument is none.
bool ReadStringOption(Args& args, OptionsOf command, StringOptions& options);
// Parses all remaining arguments.
Result<StringOptions> ParseStringOptions(Args& args, OptionsOf command);

// Returns the Unix time in ms that `text` means. Refuses zero and negative numbers; the error names the command.
Result<int64_t> ParseExpiry(CommandContext& ctx, std::string_view text, ExpiryForm form);

}  // namespace cairn
