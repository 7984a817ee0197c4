// SPDX-License-Identifier: BSD-3-Clause
#include "storage/stepwise_compaction.h"

#include <rocksdb/db.h>
#include <rocksdb/listener.h>
#include <rocksdb/metadata.h>

#include <algorithm>
#include <utility>

#include "storage/engine.h"
#include "storage/flush_nudge.h"

namespace cairn {
namespace {

// Tables of the last level in one step: alone they would become ever smaller as their rows die.
constexpr uint64_t kTablesPerStep = 4;
// A pass lists the tables that exist. A compaction may delete one before its step, but not in this many passes in a
// row.
constexpr int kMostRefusedPasses = 60;

std::vector<std::string> NamesOf(const std::vector<rocksdb::SstFileMetaData>& files) {
  std::vector<std::string> names;
  for (const rocksdb::SstFileMetaData& file : files) names.push_back(file.relative_filename);
  return names;
}

}  // namespace

StepwiseCompaction::StepwiseCompaction(Parts parts)
    : parts_(std::move(parts)), last_level_(parts_.db.NumberLevels(parts_.family) - 1),
      table_bytes_(parts_.db.GetOptions(parts_.family).target_file_size_base) {}

Status StepwiseCompaction::Flush() {
  const FlushNudge nudge(parts_.db, {parts_.family});
  return FromRocksDb(parts_.db.Flush(rocksdb::FlushOptions(), parts_.family));
}

StepwiseCompaction::Files StepwiseCompaction::FilesOf(
    int level, const std::function<bool(const rocksdb::SstFileMetaData&)>& is_wanted) const {
  rocksdb::ColumnFamilyMetaData found;
  parts_.db.GetColumnFamilyMetaData(parts_.family, &found);
  Files files;
  for (const rocksdb::LevelMetaData& at : found.levels) {
    if (at.level != level) continue;
    for (const rocksdb::SstFileMetaData& file : at.files) {
      const bool is_inside = (parts_.range.begin.empty() || file.largestkey >= parts_.range.begin) &&
                             (parts_.range.end.empty() || file.smallestkey < parts_.range.end);
      if (is_inside && is_wanted(file)) files.push_back(file);
    }
  }
  return files;
}

// From level 0 on, levels are empty up to RocksDB's base level.
int StepwiseCompaction::LevelBelow(int level) const {
  if (level > 0) return level + 1;
  uint64_t base = 0;
  parts_.db.GetIntProperty(parts_.family, rocksdb::DB::Properties::kBaseLevel, &base);
  return base > 0 ? static_cast<int>(base) : last_level_;
}

Result<bool> StepwiseCompaction::Step(const std::vector<std::string>& names, int level) {
  TRY(parts_.await_turn(false));
  rocksdb::CompactionOptions options;
  options.compression = rocksdb::kDisableCompressionOption;  // that of the level
  options.output_file_size_limit = table_bytes_;
  options.max_subcompactions = parts_.most_threads;
  rocksdb::CompactionJobInfo info;
  const rocksdb::Status done = parts_.db.CompactFiles(options, parts_.family, names, level, -1, nullptr, &info);
  refusal_ = done.IsInvalidArgument() ? FromRocksDb(done) : Ok();
  if (done.IsAborted() || done.IsInvalidArgument()) return false;
  TRY(FromRocksDb(done));
  parts_.count(info.stats.total_input_bytes, info.stats.total_output_bytes);
  return true;
}

Status StepwiseCompaction::AwaitOthers() {
  refused_passes_ = refusal_.ok() ? 0 : refused_passes_ + 1;
  if (refused_passes_ >= kMostRefusedPasses) return std::move(refusal_);
  return parts_.await_turn(true);
}

Status StepwiseCompaction::MoveDown(int level) {
  const auto is_old = [this](const rocksdb::SstFileMetaData& file) { return file.smallest_seqno <= sequence_; };
  for (;;) {
    const Files files = FilesOf(level, is_old);
    if (files.empty()) return Ok();
    bool has_moved = false;
    if (level == 0) {
      has_moved = TRY(Step(NamesOf(files), LevelBelow(level)));
    } else {
      for (const rocksdb::SstFileMetaData& file : files) {
        has_moved |= TRY(Step({file.relative_filename}, LevelBelow(level)));
      }
    }
    if (!has_moved) TRY(AwaitOthers());
  }
}

Status StepwiseCompaction::RewriteBottom() {
  const auto is_old = [this](const rocksdb::SstFileMetaData& file) { return file.file_number <= newest_; };
  for (;;) {
    const Files files = FilesOf(last_level_, is_old);
    if (files.empty()) return Ok();
    bool has_moved = false;
    Files step;
    uint64_t bytes = 0;
    for (const rocksdb::SstFileMetaData& file : files) {
      step.push_back(file);
      bytes += file.size;
      if (bytes < kTablesPerStep * table_bytes_ && &file != &files.back()) continue;
      has_moved |= TRY(Step(NamesOf(step), last_level_));
      step.clear();
      bytes = 0;
    }
    if (!has_moved) TRY(AwaitOthers());
  }
}

Status StepwiseCompaction::Run() {
  TRY(Flush());
  sequence_ = parts_.db.GetLatestSequenceNumber();
  for (int level = 0; level <= last_level_; ++level) {
    for (const rocksdb::SstFileMetaData& file : FilesOf(level, [](const auto&) { return true; })) {
      newest_ = std::max(newest_, file.file_number);
    }
  }
  for (int level = 0; level < last_level_; ++level) TRY(MoveDown(level));
  return parts_.rewrites_bottom ? RewriteBottom() : Ok();
}

}  // namespace cairn
