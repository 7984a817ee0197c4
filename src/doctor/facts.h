// SPDX-License-Identifier: BSD-3-Clause
//
// Facts: what cairn-doctor knows about a server and its machine. Rules (doctor/rules.h) read nothing else, so a test
// makes the facts that it needs.
//
// A fact that is missing (an older server, another machine, no permission) is empty, and the rules that need it find
// nothing.
//
// Thread: the owner's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// Of the machine; only if the server runs on the same one.
struct MachineFacts {
  std::optional<uint64_t> open_files;
  std::optional<uint64_t> most_open_files;
  std::optional<uint64_t> memory_bytes;        // of the machine
  std::optional<uint64_t> memory_limit_bytes;  // of the cgroup
  std::optional<uint64_t> swapped_bytes;       // of the process
  std::optional<int64_t> sync_us;              // the median time of a write and sync in the data directory
  std::string huge_pages;                      // always, madvise or never; empty: the process has turned them off
  std::optional<int64_t> overcommit;           // vm.overcommit_memory
};

struct LatencyEvent {
  std::string name;
  int64_t unix_s = 0;  // of the last one
  int64_t last_ms = 0;
  int64_t worst_ms = 0;  // since the last LATENCY RESET
};

struct HotKey {
  std::string name;
  double share = 0;  // of the time of all commands with keys
};

struct Facts {
  using Fields = std::map<std::string, std::string, std::less<>>;

  Fields info;    // all sections of INFO
  Fields config;  // CONFIG GET *
  std::vector<LatencyEvent> latency;
  std::vector<int64_t> slow_unix_s;  // the times of the slow log's entries
  std::vector<HotKey> hot_keys;      // the results of HOTKEYS
  bool needs_password = true;        // of a client without one
  int64_t now_s = 0;
  MachineFacts machine;

  // The field of INFO; empty, 0 or none if it is missing.
  std::string_view Text(std::string_view field) const;
  uint64_t Number(std::string_view field) const;
  std::optional<double> Real(std::string_view field) const;
  // The value of a directive; empty if it is missing.
  std::string_view Directive(std::string_view name) const;
};

}  // namespace cairn
