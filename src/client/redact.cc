// SPDX-License-Identifier: BSD-3-Clause
#include "client/redact.h"

#include <algorithm>
#include <string>

#include "config/directive.h"

namespace cairn {
namespace {

constexpr std::string_view kRedacted = "(redacted)";

using Words = std::span<std::string_view>;

void RedactFrom(Words words, size_t first, size_t count = SIZE_MAX) {
  for (size_t i = first; i < words.size() && count > 0; ++i, --count) words[i] = kRedacted;
}

// HELLO [version] [AUTH user password] [SETNAME name]
void RedactHello(Words words) {
  for (size_t i = 1; i < words.size(); ++i) {
    if (!EqualsIgnoreCase(words[i], "auth")) continue;
    RedactFrom(words, i + 1, 2);
    i += 2;
  }
}

// MIGRATE host port key db timeout [AUTH password | AUTH2 user password] [KEYS key ...]
void RedactMigrate(Words words) {
  for (size_t i = 6; i < words.size() && !EqualsIgnoreCase(words[i], "keys"); ++i) {
    const bool with_user = EqualsIgnoreCase(words[i], "auth2");
    if (!with_user && !EqualsIgnoreCase(words[i], "auth")) continue;
    const size_t secrets = with_user ? 2 : 1;
    RedactFrom(words, i + 1, secrets);
    i += secrets;
  }
}

// CONFIG SET name value [name value ...]. If words are missing, any word may be a name.
void RedactConfigSet(Words words) {
  const size_t step = words.size() % 2 == 0 ? 2 : 1;
  for (size_t i = 2; i + 1 < words.size(); i += step) {
    const Directive* const directive = FindDirective(words[i]);
    if (directive != nullptr && directive->Has(kSecret)) RedactFrom(words, i + 1, 1);
  }
}

// Redacts a request that is an argument of another one. Its case is arbitrary, and it may be incomplete.
void RedactNested(Words words, size_t first);

void Redact(std::string_view full_name, Words words) {
  if (full_name == "auth") RedactFrom(words, 1);
  if (full_name == "acl|setuser") RedactFrom(words, 2);
  if (full_name == "acl|dryrun") RedactNested(words, 3);
  if (full_name == "command|getkeys" || full_name == "command|getkeysandflags") RedactNested(words, 2);
  if (full_name == "hello") RedactHello(words);
  if (full_name == "migrate") RedactMigrate(words);
  if (full_name == "config|set") RedactConfigSet(words);
}

void RedactNested(Words words, size_t first) {
  if (words.size() <= first) return;
  const Words nested = words.subspan(first);
  std::string name(nested[0]);
  const bool has_subcommands =
      EqualsIgnoreCase(name, "acl") || EqualsIgnoreCase(name, "config") || EqualsIgnoreCase(name, "command");
  if (has_subcommands && nested.size() > 1) name.append("|").append(nested[1]);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  Redact(name, nested);
}

}  // namespace

std::vector<std::string_view> RedactSecrets(const Command& command, std::span<const std::string_view> argv) {
  std::vector<std::string_view> shown(argv.begin(), argv.end());
  Redact(command.full_name(), shown);
  return shown;
}

}  // namespace cairn
