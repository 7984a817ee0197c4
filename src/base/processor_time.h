// SPDX-License-Identifier: BSD-3-Clause
//
// What becomes of the processors' time: how much of the machine's nobody used, and how much the calling thread did.
//
// Thread: the owner's.
#pragma once

#include <cstdint>
#include <string_view>

namespace cairn {

// Time of all processors together in the kernel's ticks, since the machine was started.
struct ProcessorTicks {
  uint64_t all = 0;
  uint64_t idle = 0;  // with that in which all that could have run waited for a disk
};

// Reads the line of all processors of /proc/stat (proc(5)), which is the first; of anything else, all are 0.
ProcessorTicks ParseProcessorTicks(std::string_view line);

class IdleTime {
 public:
  IdleTime();
  // The part, 0 to 1, of all processors' time since the last call, or since this was made, in which they had nothing
  // to do; 1 where the kernel does not say.
  double Share();

 private:
  ProcessorTicks last_;
};

// Processor time of the calling thread in microseconds.
int64_t ThreadCpuUs();

}  // namespace cairn
