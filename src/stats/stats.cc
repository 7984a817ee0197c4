// SPDX-License-Identifier: BSD-3-Clause
#include "stats/stats.h"

#include <algorithm>
#include <bit>

namespace cairn {
namespace {

// The most prefixes to count separately: a script may return arbitrary errors.
constexpr size_t kMaxErrorPrefixes = 128;

// Adds relaxed, without a locked instruction. REQUIRES: the caller is the counter's only writer.
void Add(std::atomic<uint64_t>& counter, uint64_t n = 1) {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

uint64_t Load(const std::atomic<uint64_t>& counter) { return counter.load(std::memory_order_relaxed); }

// "WRONGTYPE Operation against ..." is counted as WRONGTYPE. A script may return any bytes, which INFO and a label of
// Prometheus cannot show; a colon ends a field's name in INFO.
std::string PrefixOf(std::string_view error) {
  constexpr size_t kMostPrefixBytes = 64;
  std::string prefix(error.substr(0, std::min(error.find(' '), kMostPrefixBytes)));
  for (char& c : prefix) {
    if (c < 0x21 || c > 0x7e) c = '?';
    if (c == ':' || c == '#') c = '_';  // as in Redis
  }
  return prefix;
}

void Subtract(CommandTotals& totals, const CommandTotals& baseline) {
  totals.calls -= baseline.calls;
  totals.usec -= baseline.usec;
  totals.rejected -= baseline.rejected;
  totals.failed -= baseline.failed;
  totals.latency_usec -= baseline.latency_usec;
  for (size_t i = 0; i < baseline.latency.size(); ++i) totals.latency[i] -= baseline.latency[i];
}

}  // namespace

WorkerStats::WorkerStats(uint32_t command_count)
    : per_command_(std::make_unique<PerCommand[]>(command_count)), command_count_(command_count) {}

WorkerStats::~WorkerStats() {
  for (uint32_t i = 0; i < command_count_; ++i) delete per_command_[i].latency.load();
}

void WorkerStats::OnCommand(const Command& command, int64_t usec, bool failed, std::string_view error) {
  PerCommand& counters = per_command_[command.index()];
  const uint64_t duration = usec < 0 ? 0 : static_cast<uint64_t>(usec);
  Add(commands_);
  Add(counters.calls);
  Add(counters.usec, duration);
  if (tracks_latency_.load(std::memory_order_relaxed)) {
    LatencyHistogram* histogram = counters.latency.load(std::memory_order_relaxed);
    if (histogram == nullptr) {
      histogram = new LatencyHistogram;
      counters.latency.store(histogram, std::memory_order_release);
    }
    histogram->Record(duration);
  }
  if (!failed) return;
  Add(counters.failed);
  if (!error.empty()) CountError(error);
}

void WorkerStats::OnScriptCalls(const ScriptCalls& calls) {
  for (const ScriptCalls::Sum& sum : calls.sums) {
    if (sum.command == nullptr) continue;
    PerCommand& counters = per_command_[sum.command->index()];
    Add(commands_, sum.calls);
    Add(counters.calls, sum.calls);
    Add(counters.usec, static_cast<uint64_t>(sum.usec));
    Add(counters.rejected, sum.rejected);
    Add(counters.failed, sum.failed);
  }
  for (const auto& [code, times] : calls.errors) CountError(code, times);
}

void WorkerStats::OnRejected(const Command* command, std::string_view error) {
  if (command != nullptr) Add(per_command_[command->index()].rejected);
  CountError(error);
}

void WorkerStats::OnRead(uint64_t bytes) {
  Add(input_bytes_, bytes);
  Add(reads_);
}

void WorkerStats::OnWritten(uint64_t bytes) {
  Add(output_bytes_, bytes);
  Add(writes_);
}

void WorkerStats::OnSlowLane() { Add(slow_lane_); }

void WorkerStats::CountError(std::string_view error, uint64_t times) {
  Add(errors_, times);
  std::string prefix = PrefixOf(error);
  const MutexLock lock(error_mutex_);
  const auto found = errors_by_prefix_.find(prefix);
  if (found != errors_by_prefix_.end()) {
    found->second += times;
  } else if (errors_by_prefix_.size() < kMaxErrorPrefixes) {
    errors_by_prefix_.emplace(std::move(prefix), times);
  }
}

// The totals at the last reset.
struct Stats::Snapshot {
  StatsTotals totals;
  std::vector<CommandTotals> commands;
};

Stats::Stats(uint32_t command_count) : command_count_(command_count) {}

Stats::~Stats() = default;

WorkerStats& Stats::AddWorker() {
  const MutexLock lock(mutex_);
  workers_.push_back(std::make_unique<WorkerStats>(command_count_));
  workers_.back()->set_tracks_latency(tracks_latency_);
  return *workers_.back();
}

void Stats::set_tracks_latency(bool on) {
  const MutexLock lock(mutex_);
  tracks_latency_ = on;
  for (const auto& worker : workers_) worker->set_tracks_latency(on);
}

StatsTotals Stats::Sum() const {
  StatsTotals sum;
  for (const auto& worker : workers_) {
    sum.commands += Load(worker->commands_);
    sum.net_input_bytes += Load(worker->input_bytes_);
    sum.net_output_bytes += Load(worker->output_bytes_);
    sum.reads_processed += Load(worker->reads_);
    sum.writes_processed += Load(worker->writes_);
    sum.error_replies += Load(worker->errors_);
    sum.slow_lane_commands += Load(worker->slow_lane_);
  }
  sum.connections_received = accepted_.load();
  sum.connections_rejected = refused_.load();
  if (keyspace_ != nullptr) {
    sum.lazyfreed_objects = keyspace_->lazyfreed_objects.load();
    sum.keyspace_hits = keyspace_->keyspace_hits.load();
    sum.keyspace_misses = keyspace_->keyspace_misses.load();
    sum.expired_keys = keyspace_->expired_keys.load();
    sum.evicted_keys = keyspace_->evicted_keys.load();
  }
  return sum;
}

std::vector<CommandTotals> Stats::SumCommands() const {
  std::vector<CommandTotals> sums(command_count_);
  for (const auto& worker : workers_) {
    for (uint32_t i = 0; i < command_count_; ++i) {
      const WorkerStats::PerCommand& counters = worker->per_command_[i];
      CommandTotals& sum = sums[i];
      sum.calls += Load(counters.calls);
      sum.usec += Load(counters.usec);
      sum.rejected += Load(counters.rejected);
      sum.failed += Load(counters.failed);
      const LatencyHistogram* histogram = counters.latency.load(std::memory_order_acquire);
      if (histogram == nullptr) continue;
      sum.latency_usec += histogram->sum_usec();
      sum.latency.resize(LatencyHistogram::kBuckets);
      for (int bucket = 0; bucket < LatencyHistogram::kBuckets; ++bucket) {
        sum.latency[bucket] += histogram->count(bucket);
      }
    }
  }
  return sums;
}

StatsTotals Stats::Totals() const {
  const MutexLock lock(mutex_);
  if (baseline_ == nullptr) return Sum();
  using Numbers = std::array<uint64_t, sizeof(StatsTotals) / sizeof(uint64_t)>;  // all fields are such numbers
  auto numbers = std::bit_cast<Numbers>(Sum());
  const auto base = std::bit_cast<Numbers>(baseline_->totals);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] -= base[i];
  return std::bit_cast<StatsTotals>(numbers);
}

std::vector<CommandTotals> Stats::Commands() const {
  const MutexLock lock(mutex_);
  std::vector<CommandTotals> totals = SumCommands();
  if (baseline_ != nullptr) {
    for (uint32_t i = 0; i < command_count_; ++i) Subtract(totals[i], baseline_->commands[i]);
  }
  return totals;
}

std::map<std::string, uint64_t> Stats::Errors() const {
  const MutexLock lock(mutex_);
  std::map<std::string, uint64_t> sums;
  for (const auto& worker : workers_) {
    const MutexLock errors(worker->error_mutex_);
    for (const auto& [prefix, count] : worker->errors_by_prefix_) sums[prefix] += count;
  }
  return sums;
}

void Stats::Reset() {
  const MutexLock lock(mutex_);
  baseline_ = std::make_unique<Snapshot>(Snapshot{Sum(), SumCommands()});
  for (const auto& worker : workers_) {
    const MutexLock errors(worker->error_mutex_);
    worker->errors_by_prefix_.clear();
  }
  samples_ = {};
  next_sample_ = 0;
}

void Stats::Sample(int64_t now_us) {
  const MutexLock lock(mutex_);
  const StatsTotals sum = Sum();
  samples_[next_sample_++ % kSamples] = {now_us, sum.commands, sum.net_input_bytes, sum.net_output_bytes};
}

Stats::Rates Stats::rates() const {
  const MutexLock lock(mutex_);
  if (next_sample_ < 2) return {};
  const RatePoint& newest = samples_[(next_sample_ - 1) % kSamples];
  const RatePoint& oldest = samples_[next_sample_ <= kSamples ? 0 : next_sample_ % kSamples];
  const double seconds = static_cast<double>(newest.at_us - oldest.at_us) / 1e6;
  if (seconds <= 0) return {};
  const auto per_second = [seconds](uint64_t from, uint64_t to) { return static_cast<double>(to - from) / seconds; };
  return {.commands_per_s = static_cast<uint64_t>(per_second(oldest.commands, newest.commands)),
          .input_kb_per_s = per_second(oldest.input_bytes, newest.input_bytes) / 1024,
          .output_kb_per_s = per_second(oldest.output_bytes, newest.output_bytes) / 1024};
}

}  // namespace cairn
