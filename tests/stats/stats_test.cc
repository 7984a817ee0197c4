// SPDX-License-Identifier: BSD-3-Clause
//
// Counting: what workers count apart must add up, and RESETSTAT must lose nothing.
#include "stats/stats.h"

#include <gtest/gtest.h>

#include <thread>

#include "stats/command_log.h"

namespace cairn {
namespace {

Status Nothing(CommandContext&, Args&, Reply&) { return Ok(); }

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "one", .arity = 1, .flags = kReadonly, .run = Nothing},
    {.name = "two", .arity = 1, .flags = kWrite, .run = Nothing},
};
// clang-format on

class StatsTest : public testing::Test {
 protected:
  static std::vector<std::span<const CommandRow>> Families() { return {kRows}; }
  const CommandTable table_{Families()};
  Stats stats_{table_.index_count()};
  const Command& one_ = *table_.Find("one");
  const Command& two_ = *table_.Find("two");
};

TEST_F(StatsTest, WorkersAddUp) {
  WorkerStats& a = stats_.AddWorker();
  WorkerStats& b = stats_.AddWorker();
  a.OnCommand(one_, 10, false, "");
  b.OnCommand(one_, 30, true, "WRONGTYPE Operation against a key");
  b.OnCommand(two_, 5, false, "");
  b.OnRejected(&two_, "ERR wrong number of arguments for 'two' command");
  b.OnRejected(nullptr, "ERR unknown command");
  a.OnRead(100);
  b.OnWritten(7);
  const auto commands = stats_.Commands();
  EXPECT_EQ(commands[one_.index()].calls, 2u);
  EXPECT_EQ(commands[one_.index()].usec, 40u);
  EXPECT_EQ(commands[one_.index()].failed, 1u);
  EXPECT_EQ(commands[two_.index()].rejected, 1u);
  EXPECT_EQ(stats_.Totals().commands, 3u);
  EXPECT_EQ(stats_.Totals().error_replies, 3u);
  EXPECT_EQ(stats_.Totals().net_input_bytes, 100u);
  EXPECT_EQ(stats_.Totals().net_output_bytes, 7u);
  const std::map<std::string, uint64_t> errors = {{"ERR", 2}, {"WRONGTYPE", 1}};
  EXPECT_EQ(stats_.Errors(), errors);
}

TEST_F(StatsTest, ResetStartsAtZeroWhileWorkersGoOn) {
  WorkerStats& worker = stats_.AddWorker();
  KeyspaceCounters keyspace;
  stats_.set_keyspace(&keyspace);
  std::atomic<bool> stop{false};
  std::thread counting([&] {
    while (!stop) worker.OnCommand(one_, 1, true, "ERR x");
  });
  keyspace.keyspace_hits.Add(5);
  while (stats_.Totals().commands < 1000) std::this_thread::yield();
  stats_.Reset();
  EXPECT_EQ(stats_.Totals().keyspace_hits, 0u);
  while (stats_.Totals().commands < 1000) std::this_thread::yield();  // it goes on, from zero
  stop = true;
  counting.join();
  keyspace.keyspace_hits.Add(2);
  EXPECT_EQ(stats_.Totals().keyspace_hits, 2u);
  stats_.Reset();
  worker.OnCommand(one_, 1, false, "");
  EXPECT_EQ(stats_.Totals().commands, 1u);
  EXPECT_EQ(stats_.Totals().keyspace_hits, 0u);
  EXPECT_EQ(stats_.Commands()[one_.index()].calls, 1u);
  EXPECT_TRUE(stats_.Errors().empty());
}

// A script may return any error: one with an invalid byte made the page for Prometheus invalid.
TEST_F(StatsTest, ErrorsAreCountedByAShortPrintableName) {
  WorkerStats& worker = stats_.AddWorker();
  worker.OnRejected(nullptr, "\xff\x01\"A text");
  worker.OnRejected(nullptr, "\xfe\x7f\"A other text");
  worker.OnRejected(nullptr, std::string(1000, 'Y'));
  const std::map<std::string, uint64_t> errors = {{"??\"A", 2}, {std::string(64, 'Y'), 1}};
  EXPECT_EQ(stats_.Errors(), errors);
}

TEST_F(StatsTest, ResetMakesRoomForOtherErrors) {
  WorkerStats& worker = stats_.AddWorker();
  for (int i = 0; i < 1000; ++i) worker.OnRejected(nullptr, "E" + std::to_string(i) + " text");
  EXPECT_EQ(stats_.Errors().size(), 128u);
  stats_.Reset();
  EXPECT_TRUE(stats_.Errors().empty());
  worker.OnRejected(nullptr, "OTHER text");
  EXPECT_EQ(stats_.Errors(), (std::map<std::string, uint64_t>{{"OTHER", 1}}));
  EXPECT_EQ(stats_.Totals().error_replies, 1u);
}

TEST_F(StatsTest, RatesAreThoseOfTheLastSamples) {
  WorkerStats& worker = stats_.AddWorker();
  for (int tenth = 0; tenth <= 30; ++tenth) {
    stats_.Sample(tenth * 100000);
    if (tenth < 20) continue;  // only the last second counts something
    for (int i = 0; i < 100; ++i) worker.OnCommand(one_, 1, false, "");
    worker.OnRead(1024);
  }
  const Stats::Rates rates = stats_.rates();
  EXPECT_GT(rates.commands_per_s, 600u);
  EXPECT_LE(rates.commands_per_s, 1000u);
  EXPECT_GT(rates.input_kb_per_s, 6);
}

// Every value must be within 1/32 of the highest of its bucket, or percentiles would lie.
TEST(LatencyHistogramTest, BucketsHoldWhatTheySay) {
  uint64_t highest_before = 0;
  for (int bucket = 1; bucket < LatencyHistogram::kBuckets; ++bucket) {
    const uint64_t lowest = highest_before + 1;
    const uint64_t highest = LatencyHistogram::HighestOf(bucket);
    EXPECT_EQ(LatencyHistogram::BucketOf(lowest), bucket);
    EXPECT_EQ(LatencyHistogram::BucketOf(highest), bucket);
    EXPECT_LE((highest - lowest) * 32, lowest + 32) << bucket;
    highest_before = highest;
  }
  EXPECT_EQ(LatencyHistogram::BucketOf(UINT64_MAX), LatencyHistogram::kBuckets - 1);
}

TEST(CommandLogTest, KeepsTheNewestAndCutsWhatIsLong) {
  std::atomic<int64_t> slower_than{1000};
  std::atomic<int64_t> most{2};
  CommandLog log(slower_than, most);
  EXPECT_FALSE(log.Takes(999));
  EXPECT_TRUE(log.Takes(1000));
  const std::string large(200, 'x');
  std::vector<std::string_view> argv(40, "a");
  argv[1] = large;
  for (int i = 0; i < 3; ++i) log.Add(argv, 1000 + i, "peer", "name");
  const auto entries = log.Newest(-1);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].id, 2);
  EXPECT_EQ(entries[0].value, 1002);
  ASSERT_EQ(entries[0].argv.size(), 32u);
  EXPECT_EQ(entries[0].argv[1], std::string(128, 'x') + "... (72 more bytes)");
  EXPECT_EQ(entries[0].argv[31], "... (9 more arguments)");
  log.Reset();
  EXPECT_EQ(log.size(), 0u);
  log.Add(argv, 1, "", "");
  EXPECT_EQ(log.Newest(1)[0].id, 3);
  slower_than = -1;
  EXPECT_FALSE(log.Takes(INT64_MAX));
}

// The size of a request counts its whole RESP encoding, as in Valkey; a request below the limit is not measured.
TEST(CommandLogTest, MeasuresRequestsInResp) {
  std::atomic<int64_t> off{-1};
  std::atomic<int64_t> limit{0};
  std::atomic<int64_t> most{2};
  CommandLogs logs{{off, most}, {limit, most}, {off, most}};
  const std::vector<std::string_view> argv = {"set", "a", "bbbbb"};
  EXPECT_EQ(logs.MeasureRequest(argv), 31);
  limit = 31;
  EXPECT_EQ(logs.MeasureRequest(argv), 31);
  EXPECT_TRUE(logs.AnyTakes({.request_bytes = 31}));
  logs.Add(argv, {.duration_us = 5, .request_bytes = 31, .reply_bytes = 5}, "peer", "name");
  EXPECT_EQ(logs.large_requests.size(), 1u);
  EXPECT_EQ(logs.large_requests.Newest(-1)[0].value, 31);
  EXPECT_EQ(logs.slow.size() + logs.large_replies.size(), 0u);
  limit = 1000;
  EXPECT_EQ(logs.MeasureRequest(argv), 0);
  limit = -1;
  EXPECT_FALSE(logs.AnyTakes({.request_bytes = logs.MeasureRequest(argv)}));
}

}  // namespace
}  // namespace cairn
