// SPDX-License-Identifier: BSD-3-Clause
#include "report/metrics_text.h"

#include <fmt/format.h>

#include <iterator>

namespace cairn {

void MetricsText::AddText(const Family& family, std::string_view number, std::string_view labels,
                          std::string_view suffix) {
  auto found = families_.find(family.name);
  if (found == families_.end()) {
    found = families_
                .emplace(family.name, fmt::format("# HELP cairn_{0} {1}\n# TYPE cairn_{0} {2}\n", family.name,
                                                  family.help, family.type))
                .first;
  }
  auto line = std::back_inserter(found->second);
  fmt::format_to(line, "cairn_{}{}", family.name, suffix);
  if (!labels.empty()) fmt::format_to(line, "{{{}}}", labels);
  fmt::format_to(line, " {}\n", number);
}

std::string MetricsText::NumberText(double value) { return fmt::format("{:.10g}", value); }

std::string MetricsText::Label(std::string_view name, std::string_view value) {
  std::string label = fmt::format("{}=\"", name);
  for (const char c : value) {
    if (c == '"' || c == '\\' || c == '\n') label += '\\';
    label += c == '\n' ? 'n' : c;
  }
  return label + '"';
}

std::string MetricsText::Take() const {
  std::string text;
  for (const auto& [name, lines] : families_) text += lines;
  return text;
}

}  // namespace cairn
