// SPDX-License-Identifier: BSD-3-Clause
#include "storage/amplification.h"

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/statistics.h>

#include <map>
#include <string>

#include "base/number.h"
#include "storage/slice.h"
#include "storage/store.h"

namespace cairn {
namespace {

constexpr double kGigabyte = 1024.0 * 1024 * 1024;
constexpr uint64_t kPositionEnd = uint64_t{1} << kPositionBits;

using Stats = std::map<std::string, std::string>;

double NumberOf(const Stats& stats, int level, std::string_view name) {
  const auto found = stats.find(fmt::format("compaction.L{}.{}", level, name));
  return found == stats.end() ? 0 : ParseDouble(found->second).value_or(0);
}

uint64_t BytesOf(const Stats& stats, int level, std::string_view name) {
  return static_cast<uint64_t>(NumberOf(stats, level, name) * kGigabyte);
}

}  // namespace

std::string_view NameOf(Space space) {
  constexpr std::string_view kNames[] = {"meta", "keys", "elements", "scores", "owners", "expiries"};
  return kNames[static_cast<int>(space)];
}

WrittenBytes WrittenBytesOf(Store& store) {
  const Engine& engine = store.engine();
  return {.rows = engine.Ticker(rocksdb::BYTES_WRITTEN),
          .log = engine.Ticker(rocksdb::WAL_FILE_BYTES),
          .flushes = engine.Ticker(rocksdb::FLUSH_WRITE_BYTES),
          .compactions = engine.Ticker(rocksdb::COMPACT_WRITE_BYTES)};
}

// Iterators, flushes and compactions read blocks too, so this is an upper bound.
double BlocksPerRead(Store& store) {
  const Engine& engine = store.engine();
  const uint64_t blocks = engine.Ticker(rocksdb::BLOCK_CACHE_MISS);
  const uint64_t probes = store.counters().incomplete_probes.load();
  const uint64_t reads = engine.Ticker(rocksdb::NUMBER_KEYS_READ);
  return reads <= probes ? 0 : static_cast<double>(blocks) / static_cast<double>(reads - probes);
}

std::vector<LevelWork> WorkOfLevels(Store& store, Space space) {
  const Engine& engine = store.engine();
  const Stats stats = engine.MapProperty(rocksdb::DB::Properties::kCFStats, space);
  std::vector<LevelWork> levels;
  for (int level = 0; level < engine.db().NumberLevels(engine.family(space)); ++level) {
    LevelWork work;
    work.files = static_cast<uint64_t>(NumberOf(stats, level, "NumFiles"));
    work.bytes = static_cast<uint64_t>(NumberOf(stats, level, "SizeBytes"));
    work.read_bytes = BytesOf(stats, level, "ReadGB") + BytesOf(stats, level, "RblobGB");
    work.written_bytes = BytesOf(stats, level, "WriteGB") + BytesOf(stats, level, "WblobGB");
    work.moved_bytes = BytesOf(stats, level, "MovedGB");
    work.compactions = static_cast<uint64_t>(NumberOf(stats, level, "CompCount"));
    work.write_amplification = NumberOf(stats, level, "WriteAmp");
    levels.push_back(work);
  }
  while (!levels.empty() && levels.back().files == 0 && levels.back().written_bytes == 0) levels.pop_back();
  return levels;
}

uint64_t KeyRowBytes(Store& store, int db) {
  const KeyspaceId keyspace = store.databases()[db].keyspace;
  const RowKey first = MakeKeyBound(keyspace, 0);
  const RowKey end = MakeKeyBound(keyspace, kPositionEnd);
  const rocksdb::Range range(ToSlice(first.row()), ToSlice(end.row()));
  rocksdb::SizeApproximationOptions options;
  options.include_memtables = true;
  uint64_t bytes = 0;
  const RowPlace place = store.engines().PlaceOf(Space::kKeys, first.row());
  return place.db.GetApproximateSizes(options, place.family, &range, 1, &bytes).ok() ? bytes : 0;
}

}  // namespace cairn
