// SPDX-License-Identifier: BSD-3-Clause
//
// The memory limit of a process's control group, versions 1 and 2 (cgroups(7)).
//
// Thread: any.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace cairn {

// The lowest limit of the process's group and of those around it, in bytes; none if there is no limit, or if it cannot
// be read.
std::optional<uint64_t> ReadCgroupMemoryLimit(pid_t pid);

}  // namespace cairn
