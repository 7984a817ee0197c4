// SPDX-License-Identifier: BSD-3-Clause
#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human_bytes.h"
#include "command/parts.h"

namespace cairn {

void SectionWriter::Section(std::string_view title) {
  if (!text_.empty()) text_.append("\r\n");
  text_.append("# ").append(title).append("\r\n");
}

void SectionWriter::Field(std::string_view name, std::string_view value) {
  if (page_ == nullptr) text_.append(name).append(":").append(value).append("\r\n");
}

void SectionWriter::Field(std::string_view name, double value, int digits) {
  Field(name, std::string_view(fmt::format("{:.{}f}", value, digits)));
}

void SectionWriter::Bytes(std::string_view name, uint64_t bytes) {
  Field(name, bytes);
  Field(fmt::format("{}_human", name), std::string_view(HumanBytes(bytes)));
}

std::vector<const ReportSection*> AllSections() {
  std::vector<const ReportSection*> sections;
  for (const auto part : {ProcessSections(), ActivitySections(), ReplicationSections(), CommandSections(),
                          ClusterSections(), StorageSections(), CompactionSections(), SizeSections()}) {
    for (const ReportSection& section : part) sections.push_back(&section);
  }
  return sections;
}

namespace {

bool IsWanted(const ReportSection& section, Args& args) {
  if (args.size() == 1) return section.by_default;
  for (size_t i = 1; i < args.size(); ++i) {
    const std::string_view asked = args[i];
    for (const std::string_view name : {section.name, std::string_view("everything"), std::string_view("all")}) {
      if (EqualsIgnoreCase(asked, name)) return true;
    }
    if (EqualsIgnoreCase(asked, "default") && section.by_default) return true;
  }
  return false;
}

// INFO [section [section ...]]
Status Info(const ReportParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  SectionWriter text;
  for (const ReportSection* section : AllSections()) {
    if (!IsWanted(*section, args)) continue;
    text.Section(section->title);
    section->write(parts, text);
    if (section->write_rows != nullptr) TRY(section->write_rows(parts, ctx, text));
  }
  reply.Verbatim("txt", text.Take());
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "info", .arity = -1, .flags = kLoading | kStale | kSlowLane, .run = With<Info>, .group = Group::kServer,
     .since = "1.0.0", .summary = "Returns information and statistics about the server.", .complexity = "O(1)",
     .syntax = "[section [section ...]]", .acl = "dangerous",
     .tips = "nondeterministic_output request_policy:all_shards response_policy:special"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> InfoCommands() { return kRows; }

std::string DescribeMetrics(const ReportParts& parts) {
  MetricsText page;
  SectionWriter writer(page);
  for (const ReportSection* section : AllSections()) section->write(parts, writer);
  return page.Take();
}

}  // namespace cairn
