// SPDX-License-Identifier: BSD-3-Clause
#include "storage/blob_files.h"

#include <rocksdb/db.h>
#include <rocksdb/statistics.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/log.h"
#include "storage/engine.h"
#include "storage/tuning.h"

namespace cairn {
namespace {

// A collection goes on until this part of the share is left, so that it does not begin again at once.
constexpr double kPartLeft = 0.6;
// A cutoff that is nearly right stays, because a change makes writes wait.
constexpr double kNearly = 1.5;
// The default step in files, while the garbage is just above its share; twice as many at twice the share. A compaction
// of level 0 brings the files of four flushes, so one that empties six moves at most half as many bytes as it brings.
constexpr double kFilesPerStep = 6.5;  // RocksDB rounds down
constexpr double kPercent = 100;
constexpr int kLooksAtRest = 100;
// A compaction only for the garbage rewrites at most so many bytes of tables for each byte of it.
constexpr uint64_t kMostTableBytes = 4;

bool IsNear(double cutoff, double other) {
  return (cutoff == 0) == (other == 0) && cutoff <= other * kNearly && other <= cutoff * kNearly;
}

}  // namespace

double BlobCutoff(const BlobTotals& files, double share, uint64_t step_bytes) {
  const auto bytes = static_cast<double>(files.bytes);
  const auto garbage = static_cast<double>(files.garbage);
  if (files.files == 0 || garbage <= share * bytes) return 0;
  // Old files have at least the average share of garbage. RocksDB rounds the number of files down.
  const double needed = 1 - share * bytes / garbage;
  const double paced = static_cast<double>(step_bytes) / bytes;
  const double one_file = 1.5 / static_cast<double>(files.files);
  return std::min(1.0, std::max(one_file, std::min(needed, paced)));
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

uint64_t BlobFiles::StepBytes(const BlobOptions& options, const BlobTotals& files) {
  if (options.garbage_step_bytes != 0 || files.files == 0) return options.garbage_step_bytes;
  const double excess = static_cast<double>(files.garbage) * kPercent / options.garbage_percent;  // bytes at the share
  return static_cast<uint64_t>(kFilesPerStep * excess / static_cast<double>(files.files));
}

void BlobFiles::Watch() {
  const BlobOptions options = this->options();
  for (const Space space : kBlobSpaces) {
    double& set = cutoffs_[static_cast<int>(space)];
    const double share = options.garbage_percent / kPercent;
    const BlobTotals totals = TotalsOf(space);
    const uint64_t step = StepBytes(options, totals);
    const bool collects = set != 0 || BlobCutoff(totals, share, step) != 0;
    const double cutoff = collects ? BlobCutoff(totals, share * kPartLeft, step) : 0;
    const int index = static_cast<int>(space);
    unchanged_[index] = cutoff != 0 && totals == seen_[index] ? unchanged_[index] + 1 : 0;
    seen_[index] = totals;
    if (IsNear(cutoff, set)) continue;
    const rocksdb::Status done = engine_.db().SetOptions(
        engine_.family(space), {{"enable_blob_garbage_collection", cutoff == 0 ? "false" : "true"},
                                {"blob_garbage_collection_age_cutoff", std::to_string(cutoff)}});
    if (done.ok()) {
      set = cutoff;
    } else {
      Log(LogSeverity::kWarning, "storage: the garbage collection of blob files could not be set: {}", done.ToString());
    }
  }
}

bool BlobFiles::MustCompact(Space space) const {
  if (unchanged_[static_cast<int>(space)] < kLooksAtRest || CutoffTo(space, 1) == 0) return false;
  uint64_t tables = 0;
  return engine_.db().GetIntProperty(engine_.family(space), rocksdb::DB::Properties::kLiveSstFilesSize, &tables) &&
         tables <= kMostTableBytes * TotalsOf(space).garbage;
}

double BlobFiles::CutoffTo(Space space, double share) const {
  return BlobCutoff(TotalsOf(space), std::min(share, options().garbage_percent / kPercent),
                    std::numeric_limits<uint64_t>::max());
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
