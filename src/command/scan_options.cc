// SPDX-License-Identifier: BSD-3-Clause
#include "command/scan_options.h"

#include <limits>
#include <string>

#include "base/glob.h"
#include "base/number.h"
#include "types/value_types.h"

namespace cairn {
namespace {

// Redis reads cursors with strtoul: a sign is allowed, a negative number wraps around, no digits mean 0.
bool ReadCursor(std::string_view text, uint64_t& cursor) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    text.remove_prefix(1);
    if (text.empty()) return false;
  }
  cursor = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    if (__builtin_mul_overflow(cursor, 10, &cursor)) return false;
    if (__builtin_add_overflow(cursor, static_cast<uint64_t>(c - '0'), &cursor)) return false;
  }
  if (negative) cursor = 0 - cursor;
  return true;
}

}  // namespace

bool ScanOptions::Matches(std::string_view name) const { return !has_match || GlobMatches(pattern, name); }

Result<bool> ScanOptions::Matches(CommandState& work, std::string_view name) const {
  if (!has_match) return true;
  return SpendOnGlob(work, pattern, name);
}

Result<bool> SpendOnGlob(CommandState& work, std::string_view pattern, std::string_view text) {
  constexpr uint64_t kComparisonsPerStep = 512;
  TRY(work.Spend(pattern.size() * text.size() / kComparisonsPerStep));
  return GlobMatches(pattern, text);
}

Result<uint64_t> ParseScanCursor(Args& args) {
  const std::string_view text = args.Bytes();
  TRY(args.Check());
  uint64_t cursor = 0;
  if (!ReadCursor(text, cursor)) return Status::Reply(errors::kInvalidCursor);
  return cursor;
}

Result<ScanOptions> ParseScanOptions(Args& args, ScanOf of) {
  ScanOptions options;
  while (args.More()) {
    const bool has_value = args.left() >= 2;
    if (has_value && args.Keyword("count")) {
      const int64_t count = args.Integer();
      if (count < 1) args.Fail(errors::kSyntax);
      options.count = static_cast<uint64_t>(count);
    } else if (has_value && args.Keyword("match")) {
      options.pattern = args.Bytes();
      options.has_match = options.pattern != "*";
    } else if (has_value && of == ScanOf::kKeys && args.Keyword("type")) {
      options.has_type = true;
      const ValueType* const row = FindValueType(args.Bytes());
      options.type = row != nullptr ? row->type : Type::kNone;
    } else if (args.Keyword("novalues")) {
      if (of != ScanOf::kFields) args.Fail("ERR NOVALUES option can only be used in HSCAN");
      options.no_values = true;
    } else {
      args.Fail(errors::kSyntax);
    }
  }
  TRY(args.Done());
  return options;
}

void ReplyScanCursor(Reply& reply, uint64_t cursor) {
  std::string digits;
  AppendUint64(digits, cursor);
  reply.Array(2);
  reply.Bulk(digits);
}

}  // namespace cairn
