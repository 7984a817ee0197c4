// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the facts about the machine that a server runs on, from /proc and /sys.
//
// Thread: any; waits for the disk.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "doctor/facts.h"

namespace cairn {

// Whether a process with this id and name, which started about `uptime_s` seconds ago, runs on this machine and may be
// looked at. In containers a server has the same small id as another one elsewhere.
bool IsProcess(pid_t pid, std::string_view name, int64_t uptime_s);

// `dir`: the data directory of the process, where the time of a sync is measured with a file without a name.
MachineFacts ReadMachine(pid_t pid, const std::string& dir);

}  // namespace cairn
