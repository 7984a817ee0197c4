// SPDX-License-Identifier: BSD-3-Clause
#include "report/metrics_text.h"

#include <cstdio>

namespace cairn {
namespace {

constexpr std::string_view kPrefix = "cairn_";

}  // namespace

void MetricsText::Family(std::string_view name, std::string_view type, std::string_view help) {
  family_ = std::string(kPrefix).append(name);
  text_.append("# HELP ").append(family_).append(" ").append(help).append("\n");
  text_.append("# TYPE ").append(family_).append(" ").append(type).append("\n");
}

void MetricsText::Begin(std::string_view labels, std::string_view suffix) {
  text_.append(family_).append(suffix);
  if (!labels.empty()) text_.append("{").append(labels).append("}");
}

void MetricsText::Sample(uint64_t value, std::string_view labels, std::string_view suffix) {
  Begin(labels, suffix);
  text_.append(" ").append(std::to_string(value)).append("\n");
}

void MetricsText::Sample(double value, std::string_view labels, std::string_view suffix) {
  char number[40];
  std::snprintf(number, sizeof number, "%.10g", value);
  Begin(labels, suffix);
  text_.append(" ").append(number).append("\n");
}

std::string MetricsText::Label(std::string_view name, std::string_view value) {
  std::string label(name);
  label += "=\"";
  for (const char c : value) {
    if (c == '\n') {
      label += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') label += '\\';
    label += c;
  }
  return label + '"';
}

}  // namespace cairn
