// SPDX-License-Identifier: BSD-3-Clause
#include "command/string_options.h"

#include "base/number.h"

namespace cairn {
namespace {

struct ExpiryWord {
  std::string_view word;
  ExpiryForm form;
};
constexpr ExpiryWord kExpiryWords[] = {
    {"ex", {TimeUnit::kSeconds, false}},
    {"px", {TimeUnit::kMilliseconds, false}},
    {"exat", {TimeUnit::kSeconds, true}},
    {"pxat", {TimeUnit::kMilliseconds, true}},
};

bool SameForm(const ExpiryForm& a, const ExpiryForm& b) { return a.unit == b.unit && a.absolute == b.absolute; }

// Reads "EX 10" and similar options. A different form than before is refused; the same form again replaces it.
bool ReadExpiry(Args& args, StringOptions& options) {
  if (args.left() < 2 || options.keep_ttl || options.persist) return false;
  for (const auto& [word, form] : kExpiryWords) {
    if (!EqualsIgnoreCase(args.Peek(), word)) continue;
    if (options.has_expiry && !SameForm(options.form, form)) return false;
    args.Skip(1);
    options.has_expiry = true;
    options.form = form;
    options.expiry = args.Bytes();
    return true;
  }
  return false;
}

// NX, XX and the conditions on the value exclude each other.
bool ReadExistence(Args& args, StringOptions& options) {
  if (options.condition.is_set()) return false;
  if (!options.if_exists && args.Keyword("nx")) return options.if_missing = true;
  if (!options.if_missing && args.Keyword("xx")) return options.if_exists = true;
  return false;
}

bool ReadSetWord(Args& args, StringOptions& options) {
  if (ReadExistence(args, options)) return true;
  const bool may_compare = !options.if_exists && !options.if_missing && !options.condition.is_set();
  if (may_compare && ReadValueCondition(args, options.condition)) return true;
  if (args.Keyword("get")) return options.get = true;
  if (!options.has_expiry && args.Keyword("keepttl")) return options.keep_ttl = true;
  return false;
}

bool ReadMSetExWord(Args& args, StringOptions& options) {
  if (ReadExistence(args, options)) return true;
  return !options.has_expiry && args.Keyword("keepttl") && (options.keep_ttl = true);
}

bool ReadGetExWord(Args& args, StringOptions& options) {
  return !options.has_expiry && args.Keyword("persist") && (options.persist = true);
}

bool ReadWord(Args& args, OptionsOf command, StringOptions& options) {
  switch (command) {
    case OptionsOf::kSet: return ReadSetWord(args, options);
    case OptionsOf::kGetEx: return ReadGetExWord(args, options);
    case OptionsOf::kMSetEx: return ReadMSetExWord(args, options);
    default: return ReadExistence(args, options) || ReadGetExWord(args, options);
  }
}

}  // namespace

bool ReadStringOption(Args& args, OptionsOf command, StringOptions& options) {
  return ReadWord(args, command, options) || ReadExpiry(args, options);
}

Result<StringOptions> ParseStringOptions(Args& args, OptionsOf command) {
  StringOptions options;
  while (args.More()) {
    if (!ReadStringOption(args, command, options)) args.Fail(errors::kSyntax);
  }
  TRY(args.Done());
  TRY(CheckValueCondition(options.condition));
  return options;
}

Result<int64_t> ParseExpiry(CommandContext& ctx, std::string_view text, ExpiryForm form) {
  const auto number = ParseInt64(text);
  if (!number) return Status::Reply(errors::kNotAnInteger);
  int64_t when = *number;
  const bool seconds = form.unit == TimeUnit::kSeconds;
  const bool fits = when > 0 && !(seconds && __builtin_mul_overflow(when, 1000, &when)) &&
                    !(!form.absolute && __builtin_add_overflow(when, ctx.now_ms(), &when));
  if (!fits) return Status::Reply(errors::InvalidExpire(ctx.command().full_name()));
  return when;
}

}  // namespace cairn
