// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the facts about the machine that a server runs on, from /proc and /sys.
//
// Thread: any; waits for the disk.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "doctor/facts.h"

namespace cairn {

// Whether a process with this id and name runs on this machine and may be looked at.
bool IsProcess(pid_t pid, std::string_view name);

// `dir`: the data directory of the process, where the time of a sync is measured with a file without a name.
MachineFacts ReadMachine(pid_t pid, const std::string& dir);

}  // namespace cairn
