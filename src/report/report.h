// SPDX-License-Identifier: BSD-3-Clause
//
// INFO: a table of sections, each a function that writes its fields (server/report_*.cc). Names are
// Redis's own where it has the field; what only Cairn has is in sections of its own.
//
// Fields about what Cairn does not have are left out, except those that monitoring tools insist on:
// then they have the value that is true of a server without that feature.
//
// Thread: one that may wait, for a section may read rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "command/context.h"
#include "report/families.h"

namespace cairn {

// The text of INFO as it grows.
class SectionWriter {
 public:
  void Section(std::string_view title);
  void Field(std::string_view name, std::string_view value);
  void Field(std::string_view name, const char* value) { Field(name, std::string_view(value)); }
  void Field(std::string_view name, int64_t value);
  void Field(std::string_view name, uint64_t value);
  void Field(std::string_view name, int value) { Field(name, static_cast<int64_t>(value)); }
  void Field(std::string_view name, bool value) { Field(name, static_cast<int64_t>(value)); }
  // With `digits` decimals.
  void Field(std::string_view name, double value, int digits);
  // The bytes, and again as <name>_human.
  void Bytes(std::string_view name, uint64_t bytes);
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

// "1.50M": bytes as people read them.
std::string HumanBytes(uint64_t bytes);

struct ReportSection {
  std::string_view name;   // as the client asks for it
  std::string_view title;  // as the text shows it
  bool by_default;         // in INFO without arguments, too
  bool in_all;             // in INFO all; INFO everything has every one
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
