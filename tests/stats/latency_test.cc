// SPDX-License-Identifier: BSD-3-Clause
//
// What LATENCY keeps and how it is drawn: the graph is Redis's, character by character.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/metrics_text.h"
#include "stats/latency_monitor.h"
#include "stats/latency_report.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LatencyMonitorTest : public ::testing::Test {
 protected:
  std::atomic<int64_t> threshold_ms_{100};
  LatencyMonitor monitor_{threshold_ms_};
};

TEST_F(LatencyMonitorTest, KeepsWhatReachesTheThreshold) {
  monitor_.Note("command", 99999);
  EXPECT_TRUE(monitor_.All().empty());
  monitor_.Note("command", 100000);
  EXPECT_EQ(monitor_.Of("command").samples.back().ms, 100);
  threshold_ms_ = 0;
  monitor_.Note("other", 10000000);
  EXPECT_EQ(monitor_.All().size(), 1u);
}

TEST_F(LatencyMonitorTest, ASecondHasOneSampleTheWorst) {
  for (const int64_t ms : {200, 700, 300}) monitor_.Add("command", ms, 1000);
  monitor_.Add("command", 50, 1001);
  const LatencySeries series = monitor_.Of("command");
  ASSERT_EQ(series.samples.size(), 2u);
  EXPECT_EQ(series.samples.front().ms, 700);
  EXPECT_EQ(series.samples.back().ms, 50);
  EXPECT_EQ(series.worst_ms, 700);
}

TEST_F(LatencyMonitorTest, TheLast160SamplesAreKeptAndTheWorstOfAll) {
  for (int64_t second = 0; second < 200; ++second) monitor_.Add("command", 1000 - second, second);
  const LatencySeries series = monitor_.Of("command");
  EXPECT_EQ(series.samples.size(), 160u);
  EXPECT_EQ(series.samples.front().unix_s, 40);
  EXPECT_EQ(series.worst_ms, 1000);
}

TEST_F(LatencyMonitorTest, ResetTakesNamesInAnyCaseOrAll) {
  for (const char* event : {"command", "fast-command", "commit"}) monitor_.Add(event, 1, 1);
  EXPECT_EQ(monitor_.Reset({"COMMAND", "none", "command"}), 1);
  EXPECT_EQ(monitor_.Reset({}), 2);
  EXPECT_EQ(monitor_.Reset({}), 0);
}

TEST(LatencyReportTest, TheGraphHasAColumnForEachSample) {
  LatencySeries series{.worst_ms = 90, .samples = {{1000, 0}, {1001, 30}, {1002, 60}, {1070, 12}, {1080, 55}}};
  EXPECT_EQ(DrawLatency("command", series, 1081), "command - high 60 ms, low 0 ms (all time high 90 ms)\n" +
                                                      std::string(80, '-') +
                                                      "\n"
                                                      "  # #\n"
                                                      " _| |\n"
                                                      " || |\n"
                                                      "_||#|\n"
                                                      "     \n"
                                                      "11111\n"
                                                      "mmm1s\n"
                                                      "   s \n");
}

TEST(LatencyReportTest, After80SamplesANewBlockBegins) {
  LatencySeries series{.worst_ms = 7, .samples = {}};
  for (int64_t second = 0; second < 81; ++second) series.samples.push_back({second, 7});
  const std::string graph = DrawLatency("commit", series, 90);
  EXPECT_THAT(graph, HasSubstr(std::string(80, '_') + "\n"));
  EXPECT_THAT(graph, HasSubstr("\n\n \n \n \n_\n \n1\n0\ns\n"));
}

TEST(LatencyReportTest, TheDoctorAdvisesOnTheEventsThereAre) {
  EXPECT_THAT(DiagnoseLatency({}, {.threshold_ms = 0}), HasSubstr("CONFIG SET latency-monitor-threshold"));
  EXPECT_THAT(DiagnoseLatency({}, {.threshold_ms = 20}), HasSubstr("20 milliseconds"));
  const std::map<std::string, LatencySeries, std::less<>> events = {
      {"command", {.worst_ms = 500, .samples = {{100, 300}, {101, 400}, {102, 500}}}}};
  const std::string text = DiagnoseLatency(events, {.threshold_ms = 100, .slow_log_us = 10000, .now_s = 103});
  EXPECT_THAT(text, HasSubstr("1. command: 3 latency spikes (average 400ms, mean deviation 66ms, period 1.00 sec). "
                              "Worst all time event 500ms.\n"));
  EXPECT_THAT(text, Not(HasSubstr("slowlog-log-slower-than")));
  EXPECT_THAT(text, Not(HasSubstr("RocksDB")));
  const std::string untuned = DiagnoseLatency(events, {.threshold_ms = 100, .slow_log_us = -1, .now_s = 103});
  EXPECT_THAT(untuned, HasSubstr("CONFIG SET slowlog-log-slower-than 100000"));
}

TEST(MetricsTextTest, LabelsAreEscaped) {
  MetricsText text;
  text.Add({"errors_total", "counter", "By word."}, uint64_t{3}, MetricsText::Label("error", "a\"b\\c\nd"));
  EXPECT_EQ(text.Take(),
            "# HELP cairn_errors_total By word.\n# TYPE cairn_errors_total counter\n"
            "cairn_errors_total{error=\"a\\\"b\\\\c\\nd\"} 3\n");
}

TEST(MetricsTextTest, SamplesOfAFamilyAreTogetherWhateverTheirOrder) {
  MetricsText text;
  const MetricsText::Family keys{"keys", "gauge", "Keys."};
  text.Add(keys, 1, MetricsText::Label("db", 0));
  text.Add({"a_seconds", "gauge", "Time."}, 1.5);
  text.Add(keys, 2, MetricsText::Label("db", 1));
  EXPECT_EQ(text.Take(),
            "# HELP cairn_a_seconds Time.\n# TYPE cairn_a_seconds gauge\ncairn_a_seconds 1.5\n"
            "# HELP cairn_keys Keys.\n# TYPE cairn_keys gauge\ncairn_keys{db=\"0\"} 1\ncairn_keys{db=\"1\"} 2\n");
}

}  // namespace
}  // namespace cairn
