// SPDX-License-Identifier: BSD-3-Clause
//
// INFO compaction: the compactions of COMPACT and of the schedule, and the delays of writes that compactions and
// flushes cause. INFO backup: the backup that runs or ran last. INFO amplification: the bytes that RocksDB wrote and
// read, in total, by space and by level.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/report.h"
#include "storage/amplification.h"
#include "storage/backups.h"
#include "storage/compaction_pace.h"
#include "storage/engine_counters.h"
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
  text.Gauge("compaction_rate_bytes", "compaction_rate_bytes",
             "Bytes a second that flushes and compactions may write now; 0 is no limit.",
             parts.store.engine().compaction_pace().rate());
  text.Gauge("writes_since_compaction", "writes_since_compaction", "Writes of rows since that compaction.",
             compactor.writes());
}

void WriteBlobs(const ReportParts& parts, SectionWriter& text) {
  const BlobFiles& blobs = parts.store.engine().blob_files();
  const BlobTotals totals = blobs.totals();
  text.Gauge("blob_files", "blob_files", "Blob files, which hold large values.", totals.files);
  text.Gauge("blob_bytes", "blob_bytes", "Bytes in blob files.", totals.bytes);
  text.Gauge("blob_live_bytes", "blob_live_bytes", "Bytes in blob files without the garbage.",
             totals.bytes - std::min(totals.bytes, totals.garbage));
  text.Gauge("blob_garbage_bytes", "blob_garbage_bytes",
             "Bytes in blob files of values that compactions found deleted or overwritten.", totals.garbage);
  text.Counter("blob_moved_bytes", "blob_moved_bytes_total",
               "Bytes of values that were copied so that blob files could be deleted.", blobs.moved_bytes());
}

constexpr double kMicrosPerSecond = 1e6;

void WriteStalled(const ReportParts& parts, SectionWriter& text) {
  const WriteStalls::Totals totals = parts.store.engine().write_stalls().totals();
  text.Field("write_stall_state", NameOf(totals.state));
  text.Gauge("", "write_stall_state", "0 while writes are not delayed by RocksDB, 1 delayed, 2 stopped.",
             static_cast<int>(totals.state));
  text.Field("write_stall_last_time", totals.last_ms / 1000);
  text.Gauge("", "last_write_stall_timestamp_seconds",
             "Unix time at which RocksDB began or ended to delay or stop writes last.", totals.last_ms / 1000);
  text.Field("write_stall_last_space", totals.last_family);
  const auto effect = [&text](std::string_view name, std::string_view times, uint64_t count, int64_t us) {
    const std::string label = MetricsText::Label("effect", name);
    const double seconds = static_cast<double>(us) / kMicrosPerSecond;
    text.Counter(times, "write_stalls_total", "Times that RocksDB began to delay or stop writes.", count, label);
    text.Counter("", "write_stall_state_seconds_total", "Time in which writes were delayed or stopped.", seconds,
                 label);
    text.Field(fmt::format("write_{}_seconds", name), seconds, 3);
  };
  effect("delayed", "write_delays", totals.delays, totals.delayed_us);
  effect("stopped", "write_stops", totals.stops, totals.stopped_us);
  text.Field("write_waited_seconds", static_cast<double>(WriteStallMicros(parts.store)) / kMicrosPerSecond, 3);
  for (const WriteStalls::Cause& cause : WriteStalls::Causes(parts.store.engine())) {
    std::string field = fmt::format("write_{}_for_{}", cause.effect, cause.name);
    std::replace(field.begin(), field.end(), '-', '_');
    text.Counter(field, "write_stall_causes_total", "Times that RocksDB met a cause to delay or stop writes.",
                 cause.count,
                 MetricsText::Label("cause", cause.name) + "," + MetricsText::Label("effect", cause.effect));
  }
}

void WriteBackup(const ReportParts& parts, SectionWriter& text) {
  const Backups& backups = parts.backups;
  const BackupProgress progress = backups.Progress();
  const Backups::Totals totals = backups.totals();
  text.Gauge("backup_in_progress", "backup_in_progress", "1 while a backup runs.",
             static_cast<int>(progress.is_running));
  text.Gauge("backup_bytes_copied", "backup_copied_bytes", "Bytes that the running or last backup has copied.",
             progress.copied_bytes);
  text.Gauge("backup_bytes_total", "backup_total_bytes", "Bytes of the database's files at the start of that backup.",
             progress.total_bytes);
  text.Field("backup_result", progress.result);
  text.Field("backup_id", progress.id);
  const auto count = [&text](std::string_view field, std::string_view result, uint64_t value) {
    text.Counter(field, "backups_total", "Backups, by their result.", value, MetricsText::Label("result", result));
  };
  count("backups_completed", "completed", totals.completed);
  count("backups_aborted", "aborted", totals.aborted);
  count("backups_failed", "failed", totals.failed);
  text.Gauge("backup_last_time", "last_backup_timestamp_seconds",
             "Unix time of the last complete backup; 0 if there was none since the start.", totals.last_unix_s);
}

void WriteCompactions(const ReportParts& parts, SectionWriter& text) {
  WriteCompaction(parts, text);
  WriteBlobs(parts, text);
  WriteStalled(parts, text);
}

void WriteLevel(Space space, size_t level, const LevelWork& work, SectionWriter& text) {
  text.Field(fmt::format("{}_level{}", NameOf(space), level),
             fmt::format("files={},bytes={},read_bytes={},written_bytes={},moved_bytes={},compactions={},"
                         "write_amplification={:.2f}",
                         work.files, work.bytes, work.read_bytes, work.written_bytes, work.moved_bytes,
                         work.compactions, work.write_amplification));
  const std::string label = MetricsText::Label("level", level) + "," + MetricsText::Label("space", NameOf(space));
  text.Counter("", "level_read_bytes_total", "Bytes that compactions into a level have read.", work.read_bytes, label);
  text.Counter("", "level_written_bytes_total", "Bytes that flushes and compactions have written into a level.",
               work.written_bytes, label);
  text.Counter("", "level_moved_bytes_total", "Bytes that were moved into a level without a copy.", work.moved_bytes,
               label);
}

void WriteAmplification(const ReportParts& parts, SectionWriter& text) {
  Store& store = parts.store;
  const WrittenBytes bytes = WrittenBytesOf(store);
  const auto written = [&text](std::string_view by, uint64_t value) {
    text.Counter(fmt::format("written_bytes_{}", by), "written_bytes_total",
                 "Bytes of rows that commits wrote, and bytes that RocksDB wrote for them.", value,
                 MetricsText::Label("by", by));
  };
  written("rows", bytes.rows);
  written("log", bytes.log);
  written("flushes", bytes.flushes);
  written("compactions", bytes.compactions);
  text.Gauge("", "write_amplification", "Bytes that RocksDB wrote for each byte of a row, since the start.",
             bytes.amplification());
  text.Field("write_amplification", bytes.amplification(), 2);
  text.Gauge("", "read_amplification", "Blocks read from files for each point read, since the start.",
             BlocksPerRead(store));
  text.Field("read_amplification", BlocksPerRead(store), 3);
  for (int space = 0; space < kSpaceCount; ++space) {
    const std::vector<LevelWork> levels = WorkOfLevels(store, static_cast<Space>(space));
    for (size_t i = 0; i < levels.size(); ++i) WriteLevel(static_cast<Space>(space), i, levels[i], text);
  }
  for (int db = 0; db < store.databases().size(); ++db) {
    if (store.databases()[db].keys <= 0) continue;
    text.Gauge(fmt::format("db{}_key_row_bytes", db), "db_key_row_bytes",
               "Estimated bytes of a database's key rows in tables and memtables.", KeyRowBytes(store, db),
               MetricsText::Label("db", fmt::format("db{}", db)));
  }
}

constexpr ReportSection kSections[] = {
    {"compaction", "Compaction", true, WriteCompactions},
    {"backup", "Backup", true, WriteBackup},
    {"amplification", "Amplification", false, WriteAmplification},
};

}  // namespace

std::span<const ReportSection> CompactionSections() { return kSections; }

}  // namespace cairn
