// SPDX-License-Identifier: BSD-3-Clause
//
// Step and Setting: what a run consists of. A run is a setting and a list of steps, both made from the seed alone, so
// a shorter list is a run too (shrinker.h). A step that makes a choice has its own seed.
//
// Thread: a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.h"
#include "simulation/model.h"

namespace cairn::simulation {

enum class StepKind : unsigned char {
  kCommands,     // on a worker's open tick: one command, or several in MULTI or in a script
  kCommit,       // a worker's tick
  kHandOver,     // a worker's tick to a second thread; the worker goes on with the next one
  kGroupCommit,  // the ticks of all workers with one sync
  kSync,         // of the log
  kFlush,        // of all memtables
  kCompact,
  kUpkeep,     // what the server's cron does: expired keys, dropped rows
  kAdvance,    // the clock, by `amount` ms
  kCheck,      // compares the whole state
  kRestart,    // an orderly end and a start
  kCrash,      // in `amount` steps of the disk
  kFault,      // the disk refuses a call in `amount` steps
  kReadFault,  // nothing is in memory, and the disk refuses a read after `amount` others
  // ---- on a replica
  kLink,              // it connects if its link is down, and then `amount` bytes of the stream arrive
  kCut,               // its link
  kReplicaSync,       // of its log
  kReplicaRestart,    // an orderly end and a start
  kReplicaCrash,      // in `amount` steps of its disk
  kReplicaFault,      // its disk refuses a call in `amount` steps
  kReplicaReadFault,  // nothing is in its memory, and its disk refuses a read after `amount` others
  kCheckReplicas,     // all have everything and are the same as the primary
};
constexpr uint64_t kAllBytes = UINT64_MAX;

struct Step {
  StepKind kind = StepKind::kCommands;
  size_t worker = 0;
  int db = 0;
  std::vector<Words> commands = {};
  bool is_script = false;  // several commands run in a script, not in MULTI
  size_t replica = 0;
  bool is_interrupted = false;  // the commands are interrupted at each of their steps
  uint64_t amount = 0;
  uint64_t seed = 0;
};

struct Setting {
  AppendFsync appendfsync = AppendFsync::kEverySec;
  bool is_small = false;  // small limits of packed values, so that few elements are spread
  uint64_t key_cache_bytes = 0;
  size_t workers = 1;
  size_t replicas = 0;
  uint64_t members = 0;  // the different names of elements
};

// As in the configuration.
const char* ToText(AppendFsync appendfsync);
// One line, for a report.
std::string ToText(const Step& step);
std::string ToText(const Setting& setting);

}  // namespace cairn::simulation
