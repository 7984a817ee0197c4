// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/step.h"

#include "simulation/text.h"

namespace cairn::simulation {

std::string ToText(const Step& step) {
  static constexpr const char* kNames[] = {
      "commands", "commit",  "hand over", "group commit", "sync",       "flush",         "compact", "upkeep",
      "advance",  "check",   "restart",   "crash",        "fault",      "read fault",    "link",    "cut",
      "sync",     "restart", "crash",     "fault",        "read fault", "check replicas"};
  const std::string worker = "worker " + std::to_string(step.worker);
  switch (step.kind) {
    case StepKind::kCommands: {
      std::string text = worker + " db " + std::to_string(step.db) + (step.is_interrupted ? " (interrupted)" : "") +
                         (step.is_script ? " (script)" : "") + ":";
      for (const Words& words : step.commands) {
        text += step.commands.size() > 1 ? "\n      " : "";
        for (const std::string& word : words) text += " " + Quoted(word);
      }
      return text;
    }
    case StepKind::kCommit:
    case StepKind::kHandOver: return worker + " " + kNames[static_cast<int>(step.kind)];
    case StepKind::kLink:
    case StepKind::kCut:
    case StepKind::kReplicaSync:
    case StepKind::kReplicaRestart:
    case StepKind::kReplicaCrash:
    case StepKind::kReplicaFault:
    case StepKind::kReplicaReadFault: {
      const std::string name = "replica " + std::to_string(step.replica) + " " + kNames[static_cast<int>(step.kind)];
      if (step.kind == StepKind::kReplicaCrash || step.kind == StepKind::kReplicaFault)
        return name + " in " + std::to_string(step.amount) + " steps of its disk";
      if (step.kind == StepKind::kReplicaReadFault) return name + " after " + std::to_string(step.amount) + " reads";
      if (step.kind != StepKind::kLink) return name;
      return name + ", " + (step.amount == kAllBytes ? "all" : std::to_string(step.amount)) + " bytes";
    }
    case StepKind::kAdvance: return "advance " + std::to_string(step.amount) + " ms";
    case StepKind::kCrash:
    case StepKind::kFault:
      return std::string(kNames[static_cast<int>(step.kind)]) + " in " + std::to_string(step.amount) +
             " steps of the disk (seed " + std::to_string(step.seed) + ")";
    case StepKind::kReadFault: return "read fault after " + std::to_string(step.amount) + " reads";
    default: return kNames[static_cast<int>(step.kind)];
  }
}

const char* ToText(AppendFsync appendfsync) {
  switch (appendfsync) {
    case AppendFsync::kAlways: return "always";
    case AppendFsync::kNo: return "no";
    default: return "everysec";
  }
}

std::string ToText(const Setting& setting) {
  return "appendfsync " + std::string(ToText(setting.appendfsync)) +
         (setting.is_small ? ", small limits" : ", usual limits") + ", key cache " +
         std::to_string(setting.key_cache_bytes) + " bytes, " + std::to_string(setting.workers) + " workers, " +
         std::to_string(setting.replicas) + " replicas, " + std::to_string(setting.members) + " names of elements";
}

}  // namespace cairn::simulation
