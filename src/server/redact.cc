// SPDX-License-Identifier: BSD-3-Clause
#include "server/redact.h"

#include <algorithm>

#include "server/directive.h"

namespace cairn {
namespace {

constexpr std::string_view kRedacted = "(redacted)";

}  // namespace

std::vector<std::string_view> RedactSecrets(const Command& command,
                                            std::span<const std::string_view> argv) {
  std::vector<std::string_view> shown(argv.begin(), argv.end());
  const std::string& name = command.full_name();
  if (name == "acl|setuser") {
    std::fill(shown.begin() + 2, shown.end(), kRedacted);
  } else if (name == "auth") {
    std::fill(shown.begin() + 1, shown.end(), kRedacted);
  } else if (name == "hello") {
    for (size_t i = 2; i + 2 < shown.size(); ++i) {
      if (EqualsIgnoreCase(argv[i], "auth")) shown[i + 1] = shown[i + 2] = kRedacted;
    }
  } else if (name == "migrate") {
    for (size_t i = 6; i + 1 < shown.size(); ++i) {
      const bool with_user = EqualsIgnoreCase(argv[i], "auth2") && i + 2 < shown.size();
      if (with_user || EqualsIgnoreCase(argv[i], "auth")) shown[++i] = kRedacted;
      if (with_user) shown[++i] = kRedacted;
    }
  } else if (name == "config|set") {
    for (size_t i = 2; i + 1 < shown.size(); i += 2) {
      const Directive* const directive = FindDirective(argv[i]);
      if (directive != nullptr && directive->Has(kSecret)) shown[i + 1] = kRedacted;
    }
  }
  return shown;
}

}  // namespace cairn
