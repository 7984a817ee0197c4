// SPDX-License-Identifier: BSD-3-Clause
#include "storage/read_statistics.h"

#include <cstdint>

#include "storage/ready_reads.h"

namespace cairn {
namespace {

class ReadStatistics : public rocksdb::Statistics {
 public:
  ReadStatistics() : counts_(rocksdb::CreateDBStatistics()) {
    for (rocksdb::Statistics* each : {static_cast<rocksdb::Statistics*>(this), counts_.get()}) {
      each->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
    }
  }
  const char* Name() const override { return "ReadStatistics"; }

  void recordTick(uint32_t ticker, uint64_t count) override {
    if (ReadyOnly::IsCounted()) counts_->recordTick(ticker, count);
  }
  uint64_t getTickerCount(uint32_t ticker) const override { return counts_->getTickerCount(ticker); }
  void setTickerCount(uint32_t ticker, uint64_t count) override { counts_->setTickerCount(ticker, count); }
  uint64_t getAndResetTickerCount(uint32_t ticker) override { return counts_->getAndResetTickerCount(ticker); }
  void histogramData(uint32_t, rocksdb::HistogramData*) const override {}

 private:
  const std::shared_ptr<rocksdb::Statistics> counts_;
};

}  // namespace

std::shared_ptr<rocksdb::Statistics> MakeReadStatistics() { return std::make_shared<ReadStatistics>(); }

}  // namespace cairn
