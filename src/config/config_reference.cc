// SPDX-License-Identifier: BSD-3-Clause
#include "config/config_reference.h"

#include "config/directive.h"

namespace cairn {
namespace {

constexpr std::string_view kIntroduction =
    "# Configuration\n\n"
    "This page is printed by `cairn-server --list-directives`; a test compares the two.\n\n"
    "A directive is a line of the configuration file (`cairn-server cairn.conf`) or an argument of the command line "
    "(`cairn-server --port 7000 --memory-budget 2gb`), which overrides the file. The syntax is that of redis.conf: "
    "words may be in double or single quotes, lines that start with `#` are comments, `include <path>` reads another "
    "file in its place. Sizes take a unit: `1k` is 1000 bytes, `1kb` 1024, and so on with `m`, `mb`, `g`, `gb`. If a "
    "directive is unknown or its value is wrong, the server does not start, and prints the file, the line and the "
    "right syntax.\n\n"
    "CONFIG SET cannot change directives that are marked *at start*. CONFIG REWRITE writes the current values to the "
    "file and keeps its comments and its order. Directives of Redis keep their names. If a repeatable directive is "
    "given on the command line, its lines in the file are ignored: `--listen` replaces all `listen` lines of the "
    "file. Those of `database` and `client-output-buffer-limit` are merged instead.\n";

std::string DescribeDefault(const Directive& directive) {
  if (directive.fallback.empty() || directive.fallback == "\"\"") return "Default: none.";
  return "Default: `" + std::string(directive.fallback) + "`.";
}

std::string DescribeRange(const Directive& directive) {
  if (directive.kind != Kind::kNumber) return {};
  if (directive.max == INT64_MAX && directive.min == 0) return {};
  std::string text = " At least " + std::to_string(directive.min);
  if (directive.max < INT32_MAX) text += ", at most " + std::to_string(directive.max);
  return text + ".";
}

void AppendDirective(std::string& page, const Directive& directive) {
  page.append("\n### `").append(directive.name).append(" ").append(DescribeSyntax(directive)).append("`\n\n");
  page.append(directive.help).append("\n\n");
  page.append(DescribeDefault(directive)).append(DescribeRange(directive));
  if (directive.Has(kStartOnly)) page.append(" *At start.*");
  if (!directive.alias.empty()) page.append(" Also known as `").append(directive.alias).append("`.");
  page.append("\n");
}

// Directives without effect get one line each.
void AppendAccepted(std::string& page) {
  page.append("\n| directive | default | |\n|---|---|---|\n");
  for (const Directive& directive : AcceptedDirectives()) {
    page.append("| `").append(directive.name).append("` | `").append(directive.fallback).append("` | ");
    page.append(directive.help).append(" |\n");
  }
}

}  // namespace

std::string ReferencePage() {
  std::string page(kIntroduction);
  for (int i = 0; i < kSectionCount; ++i) {
    const Section section = static_cast<Section>(i);
    page.append("\n## ").append(SectionTitle(section)).append("\n\n").append(SectionText(section)).append("\n");
    if (section == Section::kAccepted) {
      AppendAccepted(page);
      continue;
    }
    for (const Directive& directive : AllDirectives()) {
      if (directive.section == section) AppendDirective(page, directive);
    }
  }
  return page;
}

}  // namespace cairn
