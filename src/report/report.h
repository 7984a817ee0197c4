// SPDX-License-Identifier: BSD-3-Clause
//
// INFO and the metrics of `metrics-port` for Prometheus: a table of sections, each with a function that writes its
// fields (report/report_*.cc). A metric is one line there: its field in INFO, its name for Prometheus, its help and its
// value. Fields of Redis keep their names. Metrics have the prefix cairn_ and base units (seconds, bytes); counters
// start at zero, and CONFIG RESETSTAT resets them.
//
// Fields about features that Cairn does not have are left out, except fields that monitoring tools require: they have
// the value of a server without the feature.
//
// Thread: one that may wait.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "command/context.h"
#include "report/families.h"
#include "report/metrics_text.h"

namespace cairn {

// Writes the fields of a section as INFO's text, or its metrics into a page.
class SectionWriter {
 public:
  SectionWriter() = default;
  explicit SectionWriter(MetricsText& page) : page_(&page) {}

  void Section(std::string_view title);
  // Writes a field of INFO that is no metric.
  void Field(std::string_view name, std::string_view value);
  void Field(std::string_view name, const char* value) { Field(name, std::string_view(value)); }
  template <std::integral Number>
  void Field(std::string_view name, Number value) {
    Field(name, std::string_view(std::to_string(value)));
  }
  // With this many decimals.
  void Field(std::string_view name, double value, int digits);
  // Writes the bytes, and a second field <name>_human.
  void Bytes(std::string_view name, uint64_t bytes);

  // Writes a metric and its field in INFO. An empty `field` writes only the metric. `labels` come from
  // MetricsText::Label.
  template <typename Number>
  void Counter(std::string_view field, std::string_view metric, std::string_view help, Number value,
               std::string_view labels = {}) {
    Write(field, {metric, "counter", help}, value, labels);
  }
  template <typename Number>
  void Gauge(std::string_view field, std::string_view metric, std::string_view help, Number value,
             std::string_view labels = {}) {
    Write(field, {metric, "gauge", help}, value, labels);
  }

  // Returns null for INFO. Sections use the page for histograms and for values that only the page shows.
  MetricsText* page() const { return page_; }
  std::string Take() { return std::move(text_); }

 private:
  template <typename Number>
  void Write(std::string_view field, const MetricsText::Family& family, Number value, std::string_view labels) {
    if (page_ != nullptr) return page_->Add(family, value, labels);
    if constexpr (std::integral<Number>) {
      if (!field.empty()) Field(field, value);
    }
  }

  MetricsText* const page_ = nullptr;
  std::string text_;
};

inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

// Makes the page of `metrics-port`.
std::string DescribeMetrics(const ReportParts& parts);

struct ReportSection {
  std::string_view name;   // as clients request it
  std::string_view title;  // as the text shows it
  bool by_default;         // included in INFO without arguments
  void (*write)(const ReportParts& parts, SectionWriter& text);
  // Writes fields that are read from rows in INFO's transaction; null: the section has none.
  Status (*write_rows)(const ReportParts& parts, CommandContext& ctx, SectionWriter& text) = nullptr;
};

// All sections, in the order of INFO.
std::vector<const ReportSection*> AllSections();

// Writes the fields of INFO keysizes. `keys_of` opens a database.
Status WriteKeySizes(const ReportParts& parts, const std::function<Keyspace(int db)>& keys_of, Random& random,
                     SectionWriter& text);

// server, clients, memory
std::span<const ReportSection> ProcessSections();
// persistence, stats, cpu, modules
std::span<const ReportSection> ActivitySections();
// replication
std::span<const ReportSection> ReplicationSections();
// commandstats, errorstats, latencystats
std::span<const ReportSection> CommandSections();
// cluster
std::span<const ReportSection> ClusterSections();
// keyspace, cairn, cache, rocksdb
std::span<const ReportSection> StorageSections();
// compaction, amplification
std::span<const ReportSection> CompactionSections();
// keysizes
std::span<const ReportSection> SizeSections();

}  // namespace cairn
