// SPDX-License-Identifier: BSD-3-Clause
//
// INFO compaction: the compactions of COMPACT and of the schedule.
#include "report/report.h"
#include "storage/store.h"

namespace cairn {
namespace {

void WriteCompaction(const ReportParts& parts, SectionWriter& text) {
  const Compactor& compactor = parts.store.compactor();
  const CompactionProgress progress = compactor.Progress();
  const Compactor::Totals totals = compactor.totals();
  text.Gauge("compaction_in_progress", "compaction_in_progress", "1 while COMPACT or a scheduled compaction runs.",
             static_cast<int>(progress.is_running));
  text.Gauge("compaction_percent", "compaction_percent", "Estimated progress of the compaction in percent.",
             progress.percent());
  text.Field("compaction_reason", progress.started_ms == 0 ? "" : NameOf(progress.reason));
  text.Field("compaction_scope", progress.scope);
  text.Field("compaction_result", progress.result);
  text.Field("compaction_bytes_read", progress.bytes_read);
  text.Field("compaction_bytes_written", progress.bytes_written);
  const auto count = [&text](std::string_view field, std::string_view result, uint64_t value) {
    text.Counter(field, "compactions_total", "Compactions by COMPACT and by the schedule, by their result.", value,
                 MetricsText::Label("result", result));
  };
  count("compactions_completed", "completed", totals.completed);
  count("compactions_cancelled", "cancelled", totals.cancelled);
  count("compactions_failed", "failed", totals.failed);
  text.Gauge("compaction_last_time", "last_compaction_timestamp_seconds",
             "Unix time of the last compaction of everything.", compactor.last_ms() / 1000);
  text.Gauge("writes_since_compaction", "writes_since_compaction", "Writes of rows since that compaction.",
             compactor.writes());
}

constexpr ReportSection kSections[] = {
    {"compaction", "Compaction", true, WriteCompaction},
};

}  // namespace

std::span<const ReportSection> CompactionSections() { return kSections; }

}  // namespace cairn
