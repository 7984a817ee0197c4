// SPDX-License-Identifier: BSD-3-Clause
//
// Each rule alone: the facts at which it finds something, its severity, and facts just before.
#include "doctor/rules.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace cairn {
namespace {

constexpr int64_t kNowS = 1'700'000'000;

Facts FactsWith(Facts::Fields info, Facts::Fields config = {}) {
  Facts facts;
  facts.info = std::move(info);
  facts.config = std::move(config);
  facts.now_s = kNowS;
  return facts;
}

// "severity rule" of each finding, with commas; every finding must say what to do.
std::string Found(const Facts& facts) {
  std::string text;
  for (const Finding& finding : Examine(facts)) {
    EXPECT_FALSE(finding.problem.empty() || finding.action.empty()) << finding.rule;
    text += (text.empty() ? "" : ", ") + std::string(NameOf(finding.severity)) + " " + std::string(finding.rule);
  }
  return text;
}

TEST(DoctorRules, FindNothingWithoutFacts) { EXPECT_EQ(Found({}), ""); }

TEST(DoctorRules, HaveDifferentNames) {
  std::set<std::string_view> names;
  for (const Rule& rule : Rules()) names.insert(rule.name);
  EXPECT_EQ(names.size(), Rules().size());
}

TEST(DoctorRules, SortTheMostSevereFirst) {
  Facts facts = FactsWith({{"storage_writable", "0"}, {"rdb_last_bgsave_status", "err"}, {"evicted_clients", "1"}});
  EXPECT_EQ(Found(facts), "critical persistence, warning clients, warning persistence");
}

TEST(DoctorRules, Descriptors) {
  Facts facts;
  facts.machine.most_open_files = 1000;
  EXPECT_EQ(Found(facts), "");
  facts.machine.open_files = 799;
  EXPECT_EQ(Found(facts), "");
  facts.machine.open_files = 800;
  EXPECT_EQ(Found(facts), "warning descriptors");
  facts.machine.open_files = 950;
  EXPECT_EQ(Found(facts), "critical descriptors");
}

TEST(DoctorRules, DiskRoom) {
  const auto disk = [](const char* level, const char* free) {
    return Found(FactsWith({{"disk_level", level}, {"disk_free_bytes", free}, {"min_free_disk_bytes", "1000"}}));
  };
  EXPECT_EQ(disk("plenty", "3000"), "");
  EXPECT_EQ(disk("plenty", "2999"), "warning disk-room");
  EXPECT_EQ(disk("low", "900"), "critical disk-room");
  EXPECT_EQ(disk("full", "10"), "critical disk-room");
}

TEST(DoctorRules, Budget) {
  const auto resident = [](const char* bytes) {
    return Found(FactsWith({{"memory_budget", "8000"}, {"used_rss_bytes", bytes}}));
  };
  EXPECT_EQ(resident("8000"), "");
  EXPECT_EQ(resident("8001"), "warning budget");
  EXPECT_EQ(resident("9001"), "critical budget");
}

TEST(DoctorRules, MemoryLimits) {
  Facts facts = FactsWith({{"memory_budget", "800"}});
  facts.machine.memory_limit_bytes = 1000;
  facts.machine.memory_bytes = 1000;
  EXPECT_EQ(Found(facts), "");
  facts.machine.memory_limit_bytes = 999;
  EXPECT_EQ(Found(facts), "warning memory-limits");
  facts.machine.memory_limit_bytes = 799;
  EXPECT_EQ(Found(facts), "critical memory-limits");
  facts.machine.memory_limit_bytes.reset();
  facts.machine.memory_bytes = 850;
  EXPECT_EQ(Found(facts), "critical memory-limits");
}

TEST(DoctorRules, Kernel) {
  Facts facts;
  facts.machine.huge_pages = "madvise";
  facts.machine.overcommit = 1;
  facts.machine.swapped_bytes = 1 << 20;
  EXPECT_EQ(Found(facts), "");
  facts.machine.huge_pages = "always";
  facts.machine.overcommit = 2;
  facts.machine.swapped_bytes = 32 << 20;
  EXPECT_EQ(Found(facts), "warning kernel, warning kernel, warning kernel");
}

TEST(DoctorRules, Syncs) {
  Facts facts = FactsWith({}, {{"appendfsync", "everysec"}});
  facts.machine.sync_us = 19'999;
  EXPECT_EQ(Found(facts), "");
  facts.machine.sync_us = 200'000;
  EXPECT_EQ(Found(facts), "warning syncs");
  facts.config["appendfsync"] = "always";
  EXPECT_EQ(Found(facts), "critical syncs");
}

TEST(DoctorRules, HitRate) {
  const auto rate = [](const char* hits, const char* used) {
    return Found(FactsWith({{"key_cache_hits", hits},
                            {"key_cache_misses", "50000"},
                            {"key_cache_used_bytes", used},
                            {"key_cache_capacity_bytes", "1000"}}));
  };
  EXPECT_EQ(rate("50000", "990"), "warning hit-rate");
  EXPECT_EQ(rate("50000", "500"), "");   // more budget would not help
  EXPECT_EQ(rate("40000", "990"), "");   // too few look-ups
  EXPECT_EQ(rate("200000", "990"), "");  // enough hits
}

TEST(DoctorRules, BigKeys) {
  EXPECT_EQ(Found(FactsWith({{"db0_distrib_strings_sizes", "1=3,4M=2"}, {"db0_distrib_lists_items", "512K=1"}})), "");
  EXPECT_EQ(Found(FactsWith({{"db0_distrib_strings_sizes", "8M=1"}, {"db12_distrib_lists_items", "1=9,1M=1"}})),
            "notice big-keys, notice big-keys");
  const auto findings = Examine(FactsWith({{"db12_distrib_zsets_items", "2M=1"}}));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].problem, "Database 12 has zsets of 2M elements or more.");
}

TEST(DoctorRules, HotKeys) {
  Facts facts;
  facts.hot_keys = {{"a", 0.24}};
  EXPECT_EQ(Found(facts), "");
  facts.hot_keys = {{"a\n", 0.25}, {"b", 0.1}};
  EXPECT_EQ(Found(facts), "warning hot-keys");
  EXPECT_NE(Examine(facts)[0].problem.find(R"("a\n")"), std::string::npos) << "any bytes must be printable";
}

TEST(DoctorRules, Stalls) {
  EXPECT_EQ(Found(FactsWith({{"write_stall_state", "normal"}, {"uptime_in_seconds", "100"}})), "");
  EXPECT_EQ(Found(FactsWith({{"write_stall_state", "delayed"}})), "warning stalls");
  EXPECT_EQ(Found(FactsWith({{"write_stall_state", "stopped"}})), "critical stalls");
  EXPECT_EQ(Found(FactsWith({{"write_stopped_seconds", "1.0"}, {"uptime_in_seconds", "9999"}})), "warning stalls");
  EXPECT_EQ(Found(FactsWith({{"write_delayed_seconds", "9.0"}, {"uptime_in_seconds", "1000"}})), "");
  EXPECT_EQ(Found(FactsWith({{"write_delayed_seconds", "11.0"}, {"uptime_in_seconds", "1000"}})), "warning stalls");
}

// The advice is that of LATENCY DOCTOR.
TEST(DoctorRules, Latency) {
  Facts facts = FactsWith({});
  facts.latency = {{"write-stall", kNowS - 3601, 200, 900}};
  EXPECT_EQ(Found(facts), "");
  facts.latency[0].unix_s = kNowS - 10;
  EXPECT_EQ(Found(facts), "warning latency");
  EXPECT_NE(Examine(facts)[0].action.find("max-background-jobs"), std::string::npos);
}

TEST(DoctorRules, SlowLog) {
  Facts facts = FactsWith({});
  facts.slow_unix_s.assign(9, kNowS);
  facts.slow_unix_s.resize(50, kNowS - 7200);
  EXPECT_EQ(Found(facts), "");
  facts.slow_unix_s.push_back(kNowS);
  EXPECT_EQ(Found(facts), "notice slow-log");
}

TEST(DoctorRules, Clients) {
  EXPECT_EQ(Found(FactsWith({{"connected_clients", "79"}, {"maxclients", "100"}})), "");
  EXPECT_EQ(Found(FactsWith({{"connected_clients", "80"}, {"maxclients", "100"}})), "warning clients");
  EXPECT_EQ(Found(FactsWith({{"connected_clients", "100"}, {"maxclients", "100"}})), "critical clients");
  EXPECT_EQ(Found(FactsWith({{"rejected_connections", "3"}})), "warning clients");
  EXPECT_EQ(Found(FactsWith({{"evicted_clients", "3"}})), "warning clients");
}

TEST(DoctorRules, Replicas) {
  const auto replica = [](const std::string& rest) {
    return Found(FactsWith({{"role", "master"},
                            {"connected_slaves", "1"},
                            {"master_repl_offset", "100000000"},
                            {"slave0", "ip=10.0.0.2,port=6380," + rest}}));
  };
  EXPECT_EQ(replica("state=online,offset=99999999,lag=9"), "");
  EXPECT_EQ(replica("state=online,offset=99999999,lag=10"), "warning replicas");
  EXPECT_EQ(replica("state=online,offset=32000000,lag=0"), "warning replicas");
  EXPECT_EQ(replica("state=send_bulk,offset=0,lag=0"), "");
  EXPECT_EQ(Found(FactsWith({{"role", "slave"}, {"master_link_status", "up"}})), "");
  EXPECT_EQ(Found(FactsWith({{"role", "slave"}, {"master_link_status", "down"}})), "critical replicas");
  EXPECT_EQ(Found(FactsWith({{"role", "slave"}, {"master_link_status", "down"}, {"master_sync_in_progress", "1"}})),
            "notice replicas");
}

TEST(DoctorRules, Persistence) {
  EXPECT_EQ(Found(FactsWith({{"storage_writable", "1"}, {"aof_last_write_status", "ok"}, {"background_errors", "0"}})),
            "");
  EXPECT_EQ(Found(FactsWith({{"aof_last_write_status", "err"}})), "critical persistence");
  EXPECT_EQ(Found(FactsWith({{"background_errors", "1"}})), "critical persistence");
  EXPECT_EQ(Found(FactsWith({{"memory_databases_last_save_status", "err"}})), "warning persistence");
}

TEST(DoctorRules, Backups) {
  const std::string recent = std::to_string(kNowS - 86400);
  const std::string old = std::to_string(kNowS - 2 * 86400);
  const auto backup = [](const std::string& last, const char* uptime_s, const char* dir) {
    return Found(FactsWith({{"backup_last_time", last}, {"uptime_in_seconds", uptime_s}}, {{"backup-dir", dir}}));
  };
  EXPECT_EQ(backup(recent, "9999999", "/b"), "");
  EXPECT_EQ(backup(old, "9999999", "/b"), "warning backups");
  EXPECT_EQ(backup("0", "3600", "/b"), "");
  EXPECT_EQ(backup("0", "9999999", "/b"), "warning backups");
  EXPECT_EQ(backup("0", "9999999", ""), "");
  EXPECT_EQ(Found(FactsWith({{"backup_result", "no room"}})), "critical backups");
  EXPECT_EQ(Found(FactsWith({{"backup_result", "aborted"}})), "");
}

TEST(DoctorRules, Exposure) {
  Facts facts = FactsWith({}, {{"bind", "* -::*"}, {"protected-mode", "no"}, {"metrics-port", "0"}});
  EXPECT_EQ(Found(facts), "");
  facts.needs_password = false;
  EXPECT_EQ(Found(facts), "critical exposure");
  facts.config["protected-mode"] = "yes";
  EXPECT_EQ(Found(facts), "");
  facts.needs_password = true;
  facts.config["metrics-port"] = "9121";
  facts.config["metrics-details"] = "yes";
  facts.config["enable-debug-command"] = "yes";
  EXPECT_EQ(Found(facts), "warning exposure, warning exposure");
  facts.config["bind"] = "127.0.0.1 -::1";
  EXPECT_EQ(Found(facts), "");
}

}  // namespace
}  // namespace cairn
