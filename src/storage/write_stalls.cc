// SPDX-License-Identifier: BSD-3-Clause
#include "storage/write_stalls.h"

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/number.h"
#include "storage/engine.h"

namespace cairn {
namespace {

// RocksDB's names of the map property kCFStats. The counts with compactions are included in those without.
struct CauseName {
  std::string_view name;
  std::string_view effect;
  const char* property;
};
constexpr CauseName kCauses[] = {
    {"memtables", "delayed", "io_stalls.memtable_slowdown"},
    {"memtables", "stopped", "io_stalls.memtable_compaction"},
    {"level0-files", "delayed", "io_stalls.level0_slowdown"},
    {"level0-files", "stopped", "io_stalls.level0_numfiles"},
    {"pending-compaction-bytes", "delayed", "io_stalls.slowdown_for_pending_compaction_bytes"},
    {"pending-compaction-bytes", "stopped", "io_stalls.stop_for_pending_compaction_bytes"},
};

}  // namespace

std::string_view NameOf(WriteStalls::State state) {
  constexpr std::string_view kNames[] = {"normal", "delayed", "stopped"};
  return kNames[static_cast<int>(state)];
}

// Thread: RocksDB's background threads, and writers.
class WriteStalls::Listener : public rocksdb::EventListener {
 public:
  explicit Listener(WriteStalls& stalls) : stalls_(stalls) {}
  void OnStallConditionsChanged(const rocksdb::WriteStallInfo& info) override {
    const rocksdb::WriteStallCondition now = info.condition.cur;
    stalls_.Note(info.cf_name, now == rocksdb::WriteStallCondition::kStopped   ? State::kStopped
                               : now == rocksdb::WriteStallCondition::kDelayed ? State::kDelayed
                                                                               : State::kNormal);
  }

 private:
  WriteStalls& stalls_;
};

std::shared_ptr<rocksdb::EventListener> WriteStalls::MakeListener() { return std::make_shared<Listener>(*this); }

void WriteStalls::CountTime(Totals& totals, int64_t now_us) const {
  if (totals.state == State::kDelayed) totals.delayed_us += now_us - changed_us_;
  if (totals.state == State::kStopped) totals.stopped_us += now_us - changed_us_;
}

void WriteStalls::Note(const std::string& family, State state) {
  const int64_t now_us = MonotonicUs();
  const MutexLock lock(mutex_);
  auto* const slot = std::find_if(families_.begin(), families_.end(),
                                  [&family](const auto& one) { return one.first.empty() || one.first == family; });
  if (slot == families_.end()) return;
  *slot = {family, state};
  State worst = State::kNormal;
  for (const auto& [name, one] : families_) worst = std::max(worst, one);
  if (worst == totals_.state) return;
  CountTime(totals_, now_us);
  changed_us_ = now_us;
  totals_.delays += worst == State::kDelayed ? 1 : 0;
  totals_.stops += worst == State::kStopped ? 1 : 0;
  totals_.state = worst;
  totals_.last_ms = WallMs();
  totals_.last_family = family;
}

WriteStalls::Totals WriteStalls::totals() const {
  const MutexLock lock(mutex_);
  Totals totals = totals_;
  CountTime(totals, MonotonicUs());
  return totals;
}

std::vector<WriteStalls::Cause> WriteStalls::Causes(const Engine& engine) {
  std::vector<Cause> causes;
  for (const CauseName& cause : kCauses) causes.push_back({cause.name, cause.effect});
  for (int space = 0; space < kSpaceCount; ++space) {
    const auto stats = engine.MapProperty(rocksdb::DB::Properties::kCFStats, static_cast<Space>(space));
    for (size_t i = 0; i < causes.size(); ++i) {
      const auto found = stats.find(kCauses[i].property);
      if (found != stats.end()) causes[i].count += ParseUint64(found->second).value_or(0);
    }
  }
  return causes;
}

}  // namespace cairn
