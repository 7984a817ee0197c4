// SPDX-License-Identifier: BSD-3-Clause
//
// INFO: a table of sections, each with a function that writes its fields (report/report_*.cc). Fields of Redis keep
// their names; fields that only Cairn has are in sections of their own.
//
// Fields about features that Cairn does not have are left out, except fields that monitoring tools require: they have
// the value of a server without the feature.
//
// Thread: one that may wait, because a section may read rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "command/context.h"
#include "report/families.h"

namespace cairn {

// Writes the text of INFO.
class SectionWriter {
 public:
  void Section(std::string_view title);
  void Field(std::string_view name, std::string_view value);
  void Field(std::string_view name, const char* value) { Field(name, std::string_view(value)); }
  void Field(std::string_view name, int64_t value);
  void Field(std::string_view name, uint64_t value);
  void Field(std::string_view name, int value) { Field(name, static_cast<int64_t>(value)); }
  void Field(std::string_view name, bool value) { Field(name, static_cast<int64_t>(value)); }
  // With this many decimals.
  void Field(std::string_view name, double value, int digits);
  // Writes the bytes, and a second field <name>_human.
  void Bytes(std::string_view name, uint64_t bytes);
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

// Formats bytes for people: "1.50M".
std::string HumanBytes(uint64_t bytes);

struct ReportSection {
  std::string_view name;   // as clients request it
  std::string_view title;  // as the text shows it
  bool by_default;         // included in INFO without arguments
  bool in_all;             // included in INFO all; INFO everything includes every section
  Status (*write)(const ReportParts& parts, CommandContext& ctx, SectionWriter& text);
};

// server, clients, memory
std::span<const ReportSection> ProcessSections();
// persistence, stats, cpu, modules
std::span<const ReportSection> ActivitySections();
// replication
std::span<const ReportSection> ReplicationSections();
// commandstats, errorstats, latencystats, cluster
std::span<const ReportSection> CommandSections();
// keyspace, cairn, cache, rocksdb
std::span<const ReportSection> StorageSections();

}  // namespace cairn
