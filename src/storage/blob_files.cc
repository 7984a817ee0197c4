// SPDX-License-Identifier: BSD-3-Clause
#include "storage/blob_files.h"

#include <rocksdb/db.h>
#include <rocksdb/statistics.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/log.h"
#include "storage/engine.h"
#include "storage/tuning.h"

namespace cairn {
namespace {

// A collection goes on until this part of the share is left, so that it does not begin again at once.
constexpr double kPartLeft = 0.6;
// A cutoff that is nearly right stays, because a change makes writes wait.
constexpr double kNearly = 1.5;
// The default step in flushes, while the garbage is just above its share; twice as much at twice the share. A
// compaction of level 0 brings what four flushes wrote, so it moves half as many bytes as it brings.
constexpr double kFlushesPerStep = 2;
constexpr double kPercent = 100;
constexpr int kLooksAtRest = 100;
// A compaction only for the garbage rewrites at most so many bytes of tables for each byte of it.
constexpr uint64_t kMostTableBytes = 4;

bool IsNear(double cutoff, double other) {
  return (cutoff == 0) == (other == 0) && cutoff <= other * kNearly && other <= cutoff * kNearly;
}

double ShareOf(const BlobTotals& totals) {
  return totals.bytes == 0 ? 0 : static_cast<double>(totals.garbage) / static_cast<double>(totals.bytes);
}

// `excess` is the share of garbage by the share that is allowed. Most files are of flushes, so the median is one.
uint64_t StepBytes(const BlobOptions& options, std::span<const BlobFile> files, double excess) {
  if (options.garbage_step_bytes != 0 || files.empty()) return options.garbage_step_bytes;
  std::vector<uint64_t> sizes;
  sizes.reserve(files.size());
  for (const BlobFile& file : files) sizes.push_back(file.bytes);
  const auto median = sizes.begin() + static_cast<ptrdiff_t>(sizes.size() / 2);
  std::ranges::nth_element(sizes, median);
  return static_cast<uint64_t>(kFlushesPerStep * excess * static_cast<double>(*median));
}

}  // namespace

double BlobCutoff(std::span<const BlobFile> files, double share, uint64_t step_bytes) {
  BlobFile left;
  for (const BlobFile& file : files) {
    left.bytes += file.bytes;
    left.garbage += file.garbage;
  }
  uint64_t moved = 0;
  size_t count = 0;
  for (const BlobFile& file : files) {
    if (static_cast<double>(left.garbage) <= share * static_cast<double>(left.bytes)) break;
    moved += file.bytes - file.garbage;
    if (count > 0 && moved > step_bytes) break;
    left.bytes -= file.garbage;
    left.garbage -= file.garbage;
    ++count;
  }
  if (count == 0) return 0;
  // RocksDB rounds the number of files down.
  return std::min(1.0, (static_cast<double>(count) + 0.5) / static_cast<double>(files.size()));
}

Status BlobFiles::Set(const BlobOptions& options) {
  {
    const MutexLock lock(mutex_);
    options_ = options;
  }
  for (const Space space : kBlobSpaces) {
    TRY(FromRocksDb(engine_.db().SetOptions(engine_.family(space), ChangedBlobOptions(options))));
  }
  return Ok();
}

BlobOptions BlobFiles::options() const {
  const MutexLock lock(mutex_);
  return options_;
}

void BlobFiles::Watch() {
  const BlobOptions options = this->options();
  const double share = options.garbage_percent / kPercent;
  for (const Space space : kBlobSpaces) {
    const int index = static_cast<int>(space);
    double& set = cutoffs_[index];
    const BlobTotals totals = TotalsOf(space);
    const bool is_unchanged = totals == seen_[index] && options == used_;
    seen_[index] = totals;
    unchanged_[index] = set != 0 && is_unchanged ? unchanged_[index] + 1 : 0;
    if (is_unchanged) continue;
    double cutoff = 0;
    if (ShareOf(totals) > (set == 0 ? share : share * kPartLeft)) {
      const std::vector<BlobFile> files = FilesOf(space);
      cutoff = BlobCutoff(files, share * kPartLeft, StepBytes(options, files, ShareOf(totals) / share));
    }
    if (IsNear(cutoff, set)) continue;
    const rocksdb::Status done = engine_.db().SetOptions(
        engine_.family(space), {{"enable_blob_garbage_collection", cutoff == 0 ? "false" : "true"},
                                {"blob_garbage_collection_age_cutoff", std::to_string(cutoff)}});
    if (done.ok()) {
      set = cutoff;
    } else {
      seen_[index] = {};  // tries again
      Log(LogSeverity::kWarning, "storage: the garbage collection of blob files could not be set: {}", done.ToString());
    }
  }
  used_ = options;
}

bool BlobFiles::MustCompact(Space space) const {
  if (unchanged_[static_cast<int>(space)] < kLooksAtRest) return false;
  const BlobTotals totals = TotalsOf(space);
  if (ShareOf(totals) <= options().garbage_percent / kPercent) return false;
  uint64_t tables = 0;
  return engine_.db().GetIntProperty(engine_.family(space), rocksdb::DB::Properties::kLiveSstFilesSize, &tables) &&
         tables <= kMostTableBytes * totals.garbage;
}

double BlobFiles::CutoffTo(Space space, double share) const {
  return BlobCutoff(FilesOf(space), std::min(share, options().garbage_percent / kPercent),
                    std::numeric_limits<uint64_t>::max());
}

std::vector<BlobFile> BlobFiles::FilesOf(Space space) const {
  rocksdb::ColumnFamilyMetaData found;
  engine_.db().GetColumnFamilyMetaData(engine_.family(space), &found);
  std::vector<BlobFile> files;
  files.reserve(found.blob_files.size());
  for (const rocksdb::BlobMetaData& file : found.blob_files) {
    files.push_back({.bytes = file.blob_file_size, .garbage = file.garbage_blob_bytes});
  }
  return files;
}

BlobTotals BlobFiles::TotalsOf(Space space) const {
  const auto property = [&](const std::string& name) {
    uint64_t value = 0;
    return engine_.db().GetIntProperty(engine_.family(space), name, &value) ? value : 0;
  };
  return {.files = property(rocksdb::DB::Properties::kNumBlobFiles),
          .bytes = property(rocksdb::DB::Properties::kLiveBlobFileSize),
          .garbage = property(rocksdb::DB::Properties::kLiveBlobFileGarbageSize)};
}

BlobTotals BlobFiles::totals() const {
  BlobTotals sum;
  for (const Space space : kBlobSpaces) {
    const BlobTotals totals = TotalsOf(space);
    sum.files += totals.files;
    sum.bytes += totals.bytes;
    sum.garbage += totals.garbage;
  }
  return sum;
}

uint64_t BlobFiles::moved_bytes() const { return engine_.Ticker(rocksdb::BLOB_DB_GC_BYTES_RELOCATED); }

}  // namespace cairn
