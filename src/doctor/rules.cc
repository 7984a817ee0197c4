// SPDX-License-Identifier: BSD-3-Clause
#include "doctor/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/human_bytes.h"
#include "base/number.h"
#include "base/words.h"
#include "stats/latency_report.h"

namespace cairn {
namespace {

using Findings = std::vector<Finding>;
constexpr int64_t kHourS = 3600;
constexpr int64_t kDayS = 24 * kHourS;

void Add(Findings& findings, Severity severity, std::string problem, std::string action) {
  findings.push_back({{}, severity, std::move(problem), std::move(action)});
}

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

int Percent(double share) { return static_cast<int>(std::lround(100 * share)); }

// ---- the machine

void CheckDescriptors(const Facts& facts, Findings& findings) {
  constexpr double kMany = 0.8;
  constexpr double kAlmostAll = 0.95;
  const MachineFacts& machine = facts.machine;
  if (!machine.open_files || !machine.most_open_files) return;
  const double used = Share(*machine.open_files, *machine.most_open_files);
  if (used < kMany) return;
  Add(findings, used < kAlmostAll ? Severity::kWarning : Severity::kCritical,
      fmt::format("The process has {} of the {} files open that it may open.", *machine.open_files,
                  *machine.most_open_files),
      "Raise the limit (LimitNOFILE= of systemd, ulimit -n) and restart, or lower maxclients.");
}

void CheckDiskRoom(const Facts& facts, Findings& findings) {
  const std::string_view level = facts.Text("disk_level");
  const uint64_t free = facts.Number("disk_free_bytes");
  const uint64_t reserve = facts.Number("min_free_disk_bytes");
  const std::string action = "Free space: delete keys and COMPACT, FLUSHDB, remove other files, or use a larger disk.";
  if (level == "low" || level == "full") {
    return Add(findings, Severity::kCritical,
               fmt::format("The disk is {}: {} are free, and {} are refused.", level, HumanBytes(free),
                           level == "full" ? "all writes" : "commands that need more room"),
               action);
  }
  if (level == "plenty" && free < 3 * reserve) {
    Add(findings, Severity::kWarning,
        fmt::format("The disk has {} free; below {} (min-free-disk), and earlier while compactions are pending, writes "
                    "are refused.",
                    HumanBytes(free), HumanBytes(reserve)),
        action);
  }
}

void CheckMemoryLimits(const Facts& facts, Findings& findings) {
  const uint64_t budget = facts.Number("memory_budget");
  if (budget == 0) return;
  if (const auto& limit = facts.machine.memory_limit_bytes; limit && budget + budget / 4 > *limit) {
    Add(findings, budget > *limit ? Severity::kCritical : Severity::kWarning,
        fmt::format("memory-budget is {}, and the cgroup's limit is {}. The kernel needs a quarter of the budget for "
                    "buffers, and reads the program from the disk again and again, or kills it.",
                    HumanBytes(budget), HumanBytes(*limit)),
        fmt::format("Raise the cgroup's limit to {}, or CONFIG SET memory-budget {}.", HumanBytes(budget + budget / 4),
                    *limit / 5 * 4));
  }
  if (const auto& memory = facts.machine.memory_bytes; memory && budget > *memory / 10 * 9) {
    Add(findings, Severity::kCritical,
        fmt::format("memory-budget is {} of the machine's {}.", HumanBytes(budget), HumanBytes(*memory)),
        "Lower memory-budget: the kernel and other programs need memory too.");
  }
}

void CheckKernel(const Facts& facts, Findings& findings) {
  constexpr int64_t kNeverOvercommits = 2;
  constexpr uint64_t kMuchSwapped = uint64_t{32} << 20;
  const MachineFacts& machine = facts.machine;
  if (machine.huge_pages == "always") {
    Add(findings, Severity::kWarning,
        "Transparent huge pages are always on: the process takes more memory, and allocations wait for free pages.",
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, also at the start of the machine.");
  }
  if (machine.overcommit == kNeverOvercommits) {
    Add(findings, Severity::kWarning,
        "The kernel never overcommits memory (vm.overcommit_memory is 2), so an allocation may fail while memory is "
        "free.",
        "sysctl vm.overcommit_memory=0.");
  }
  if (machine.swapped_bytes.value_or(0) >= kMuchSwapped) {
    Add(findings, Severity::kWarning,
        fmt::format("{} of the process are swapped out, and commands wait until they are read back.",
                    HumanBytes(*machine.swapped_bytes)),
        "Lower memory-budget, give the machine more memory, or set vm.swappiness to 1.");
  }
}

void CheckSyncs(const Facts& facts, Findings& findings) {
  constexpr int64_t kSlowUs = 20'000;
  constexpr int64_t kVerySlowUs = 200'000;
  if (!facts.machine.sync_us || *facts.machine.sync_us < kSlowUs) return;
  const bool waits = facts.Directive("appendfsync") == "always";
  Add(findings, waits && *facts.machine.sync_us >= kVerySlowUs ? Severity::kCritical : Severity::kWarning,
      fmt::format("The disk takes {} ms to sync a page{}.", *facts.machine.sync_us / 1000,
                  waits ? ", and each commit waits for it (appendfsync always)" : ""),
      "Use a disk with a protected write cache, or keep other programs from it; with appendfsync everysec no reply "
      "waits for a sync.");
}

// ---- the load

void CheckHitRate(const Facts& facts, Findings& findings) {
  constexpr double kLow = 0.8;
  constexpr uint64_t kEnoughLooks = 100'000;
  const uint64_t hits = facts.Number("key_cache_hits");
  const uint64_t looks = hits + facts.Number("key_cache_misses");
  const uint64_t capacity = facts.Number("key_cache_capacity_bytes");
  const bool is_full = Share(facts.Number("key_cache_used_bytes"), capacity) > 0.9;
  if (looks < kEnoughLooks || !is_full || Share(hits, looks) >= kLow) return;
  Add(findings, Severity::kWarning,
      fmt::format("The key cache is full ({}) and has {} percent of the rows that commands look for; the others come "
                  "from RocksDB or the disk.",
                  HumanBytes(capacity), Percent(Share(hits, looks))),
      "Raise memory-budget until the keys in use fit, if latencies matter.");
}

// The number of a bin's name: 512, 64K, 1M.
uint64_t SizeOfBin(std::string_view name) {
  const bool has_unit = !name.empty() && name.back() > '9';
  return ParseMemory(fmt::format("{}{}", name, has_unit ? "b" : "")).value_or(0);
}

void CheckBigKeys(const Facts& facts, Findings& findings) {
  constexpr uint64_t kBigString = uint64_t{8} << 20;
  constexpr uint64_t kBigCollection = uint64_t{1} << 20;
  for (const auto& [field, bins] : facts.info) {
    const size_t at = field.find("_distrib_");
    if (at == field.npos) continue;
    const std::string_view kind = std::string_view(field).substr(at + std::string_view("_distrib_").size());
    const bool is_string = kind.starts_with("strings");
    const size_t last = bins.rfind(',') + 1;  // npos + 1 is 0
    const std::string_view bin = std::string_view(bins).substr(last);
    const std::string_view size = bin.substr(0, bin.find('='));
    if (SizeOfBin(size) < (is_string ? kBigString : kBigCollection)) continue;
    Add(findings, Severity::kNotice,
        fmt::format("Database {} has {} of {} {} or more.", field.substr(2, at - 2), kind.substr(0, kind.find('_')),
                    size, is_string ? "bytes" : "elements"),
        "Find them with redis-cli --bigkeys; commands that read all of such a key take long (use SCAN and ranges).");
  }
}

void CheckHotKeys(const Facts& facts, Findings& findings) {
  constexpr double kLarge = 0.25;
  for (const HotKey& key : facts.hot_keys) {
    if (key.share < kLarge) continue;
    Add(findings, Severity::kWarning,
        fmt::format("The key {} takes {} percent of the time of all commands with keys.", ShowWord(key.name),
                    Percent(key.share)),
        "Spread it over several keys, cache it in the clients (CLIENT TRACKING), or read it from replicas.");
  }
}

void CheckStalls(const Facts& facts, Findings& findings) {
  constexpr double kLongShare = 0.01;
  const std::string action =
      "Raise memory-budget or max-background-jobs, see that compaction-rate-limit is not too low, or write less.";
  const std::string_view state = facts.Text("write_stall_state");
  if (state == "delayed" || state == "stopped") {
    Add(findings, state == "stopped" ? Severity::kCritical : Severity::kWarning,
        fmt::format("Writes are {} now, because flushes and compactions are behind.", state), action);
  }
  const double stopped_s = facts.Real("write_stopped_seconds").value_or(0);
  const double delayed_s = facts.Real("write_delayed_seconds").value_or(0);
  const auto uptime_s = static_cast<double>(facts.Number("uptime_in_seconds"));
  if (stopped_s >= 1 || (delayed_s >= 1 && delayed_s > kLongShare * uptime_s)) {
    Add(findings, Severity::kWarning,
        fmt::format("Since the start writes were delayed for {:.0f} s and stopped for {:.0f} s.", delayed_s, stopped_s),
        action);
  }
}

void CheckLatency(const Facts& facts, Findings& findings) {
  for (const LatencyEvent& event : facts.latency) {
    if (facts.now_s - event.unix_s > kHourS) continue;
    std::string action;
    for (const std::string_view advice : LatencyAdvice(event.name)) action.append(advice).append(" ");
    Add(findings, Severity::kWarning,
        fmt::format(
            "There was a latency event '{}' of {} ms in the last hour; the worst since LATENCY RESET took {} ms.",
            event.name, event.last_ms, event.worst_ms),
        action + "LATENCY DOCTOR shows more.");
  }
}

void CheckSlowLog(const Facts& facts, Findings& findings) {
  constexpr int64_t kMany = 10;
  const int64_t recent = std::count_if(facts.slow_unix_s.begin(), facts.slow_unix_s.end(),
                                       [&](int64_t unix_s) { return facts.now_s - unix_s <= kHourS; });
  if (recent < kMany) return;
  Add(findings, Severity::kNotice,
      fmt::format("The slow log has {} commands of the last hour that took {} microseconds or longer.", recent,
                  facts.Directive("slowlog-log-slower-than")),
      "SLOWLOG GET shows them. Ask for less at a time: SCAN and ranges instead of whole collections.");
}

// ---- clients and replicas

void CheckClients(const Facts& facts, Findings& findings) {
  constexpr double kMany = 0.8;
  const uint64_t connected = facts.Number("connected_clients");
  const uint64_t most = facts.Number("maxclients");
  if (Share(connected, most) >= kMany) {
    Add(findings, connected >= most ? Severity::kCritical : Severity::kWarning,
        fmt::format("{} of at most {} clients are connected.", connected, most),
        "Raise maxclients (and the limit on open files), or set timeout so that idle clients are disconnected.");
  }
  if (const uint64_t rejected = facts.Number("rejected_connections"); rejected > 0) {
    Add(findings, Severity::kWarning, fmt::format("{} connections were refused since the last reset.", rejected),
        "Look for clients that open too many, and for clients of other machines without a password (protected-mode).");
  }
  if (const uint64_t evicted = facts.Number("evicted_clients"); evicted > 0) {
    Add(findings, Severity::kWarning,
        fmt::format("{} clients were disconnected because all together used more than maxmemory-clients.", evicted),
        "Look for clients that do not read their replies (CLIENT LIST, tot-mem), or raise maxmemory-clients.");
  }
}

// The value of a part of "ip=...,lag=3".
std::string_view PartOf(std::string_view text, std::string_view name) {
  const std::string wanted = fmt::format("{}=", name);
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    if (part.starts_with(wanted)) return part.substr(wanted.size());
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  return {};
}

void CheckPrimaryLink(const Facts& facts, Findings& findings) {
  if (facts.Text("role") != "slave" || facts.Text("master_link_status") != "down") return;
  const std::string primary = fmt::format("{}:{}", facts.Text("master_host"), facts.Text("master_port"));
  if (facts.Text("master_sync_in_progress") == "1") {
    return Add(findings, Severity::kNotice,
               fmt::format("The first transfer from the primary {} is at {} percent.", primary,
                           facts.Text("master_sync_perc")),
               "Wait until it is done; until then this replica has no complete data.");
  }
  const int64_t down_s = ParseInt64(facts.Text("master_link_down_since_seconds")).value_or(-1);
  const std::string since = down_s < 0 ? "has not been up yet" : fmt::format("is down for {} s", down_s);
  Add(findings, Severity::kCritical, fmt::format("The link to the primary {} {}.", primary, since),
      "Look at the log of both servers, masterauth and the network.");
}

void CheckReplicas(const Facts& facts, Findings& findings) {
  constexpr int64_t kLateS = 10;
  constexpr uint64_t kFarBytes = uint64_t{64} << 20;
  const uint64_t offset = facts.Number("master_repl_offset");
  for (uint64_t i = 0; i < facts.Number("connected_slaves"); ++i) {
    const std::string_view line = facts.Text(fmt::format("slave{}", i));
    if (PartOf(line, "state") != "online") continue;  // gets a first transfer
    const uint64_t acked = ParseUint64(PartOf(line, "offset")).value_or(offset);
    const uint64_t behind = offset - std::min(offset, acked);
    const int64_t lag_s = ParseInt64(PartOf(line, "lag")).value_or(0);
    if (lag_s < kLateS && behind < kFarBytes) continue;
    Add(findings, Severity::kWarning,
        fmt::format("The replica {}:{} is {} behind and last answered {} s ago.", PartOf(line, "ip"),
                    PartOf(line, "port"), HumanBytes(behind), lag_s),
        "Look at its load, its disk and the network; a larger repl-backlog-size spares a full synchronization.");
  }
  CheckPrimaryLink(facts, findings);
}

// ---- the data

void CheckPersistence(const Facts& facts, Findings& findings) {
  if (facts.Text("storage_writable") == "0" || facts.Text("aof_last_write_status") == "err") {
    Add(findings, Severity::kCritical, "The disk refuses writes, so the server does too.",
        "Look at the log for the error, and at the disk; the server retries by itself.");
  }
  if (facts.Number("background_errors") > 0) {
    Add(findings, Severity::kCritical, "RocksDB has had errors in the background.",
        "Look at the log. If data is damaged, stop the server and run cairn-check on its directory.");
  }
  for (const auto& [field, what] : {std::pair("rdb_last_bgsave_status", "save"),
                                    std::pair("memory_databases_last_save_status", "save of databases in memory")}) {
    if (facts.Text(field) != "err") continue;
    Add(findings, Severity::kWarning, fmt::format("The last {} has failed.", what),
        "Look at the log: the disk may have no room, or the directory no permission. Then save again.");
  }
}

void CheckBackups(const Facts& facts, Findings& findings) {
  constexpr int64_t kOldS = 2 * kDayS;
  const std::string_view result = facts.Text("backup_result");
  if (!result.empty() && result != "ok" && result != "aborted") {
    Add(findings, Severity::kCritical, fmt::format("The last backup has failed: {}.", result),
        "Look at the log and at the directory backup-dir, then run BACKUP START again.");
  }
  if (facts.Directive("backup-dir").empty()) return;
  const auto last_s = static_cast<int64_t>(facts.Number("backup_last_time"));
  const auto uptime_s = static_cast<int64_t>(facts.Number("uptime_in_seconds"));
  const int64_t age_s = last_s == 0 ? uptime_s : facts.now_s - last_s;
  if (age_s < kOldS) return;
  Add(findings, Severity::kWarning,
      last_s == 0 ? fmt::format("There was no backup since the start {} days ago.", age_s / kDayS)
                  : fmt::format("The last backup is {} days old.", age_s / kDayS),
      "Run BACKUP START from a timer, once a day.");
}

// ---- access

bool IsLoopback(std::string_view address) {
  if (address.starts_with('-')) address.remove_prefix(1);
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

// Whether another machine can reach the addresses of `bind`.
bool IsReachable(const Facts& facts) {
  const auto words = SplitWords(facts.Directive("bind"));
  return words && std::any_of(words->begin(), words->end(),
                              [](const std::string& word) { return !word.empty() && !IsLoopback(word); });
}

void CheckExposure(const Facts& facts, Findings& findings) {
  if (!IsReachable(facts)) return;
  const bool has_metrics = facts.Directive("metrics-port") != "0" && !facts.Directive("metrics-port").empty();
  if (!facts.needs_password && facts.Directive("protected-mode") == "no") {
    Add(findings, Severity::kCritical,
        fmt::format("Everyone who reaches {} can read and change all data: there is no password, and protected-mode is "
                    "off.",
                    facts.Directive("bind")),
        "Set requirepass or ACL users, or bind to 127.0.0.1, or turn protected-mode on.");
  } else if (has_metrics && facts.needs_password && facts.Directive("metrics-details") == "yes") {
    Add(findings, Severity::kWarning,
        "The page of metrics-port shows names of keys and arguments of commands without a password.",
        "Set metrics-details no, or let only the monitoring reach metrics-port.");
  }
  if (facts.Directive("enable-debug-command") == "yes") {
    Add(findings, Severity::kWarning, "Clients of other machines may use DEBUG, which can stop the server.",
        "Set enable-debug-command local or no.");
  }
}

constexpr auto kRules = std::to_array<Rule>({
    {"descriptors", CheckDescriptors},
    {"disk-room", CheckDiskRoom},
    {"budget", CheckBudget},
    {"memory-limits", CheckMemoryLimits},
    {"kernel", CheckKernel},
    {"syncs", CheckSyncs},
    {"hit-rate", CheckHitRate},
    {"big-keys", CheckBigKeys},
    {"hot-keys", CheckHotKeys},
    {"stalls", CheckStalls},
    {"latency", CheckLatency},
    {"slow-log", CheckSlowLog},
    {"clients", CheckClients},
    {"replicas", CheckReplicas},
    {"persistence", CheckPersistence},
    {"backups", CheckBackups},
    {"exposure", CheckExposure},
});

}  // namespace

void CheckBudget(const Facts& facts, Findings& findings) {
  const uint64_t budget = facts.Number("memory_budget");
  const uint64_t resident = facts.Number("used_rss_bytes");
  if (budget == 0 || resident <= budget) return;
  Add(findings, resident > budget + budget / 8 ? Severity::kCritical : Severity::kWarning,
      fmt::format("The process takes {} of memory, {} more than memory-budget.", HumanBytes(resident),
                  HumanBytes(resident - budget)),
      "INFO cairn shows the parts (used_...): buffers of clients that do not read their replies are the usual reason "
      "(CLIENT LIST, client-output-buffer-limit).");
}

std::string_view NameOf(Severity severity) {
  constexpr std::string_view kNames[] = {"notice", "warning", "critical"};
  return kNames[static_cast<size_t>(severity)];
}

std::span<const Rule> Rules() { return kRules; }

std::vector<Finding> Examine(const Facts& facts) {
  std::vector<Finding> findings;
  for (const Rule& rule : kRules) {
    const size_t before = findings.size();
    rule.check(facts, findings);
    for (size_t i = before; i < findings.size(); ++i) findings[i].rule = rule.name;
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return findings;
}

}  // namespace cairn
