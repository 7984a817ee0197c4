// SPDX-License-Identifier: BSD-3-Clause
//
// ScriptCalls: the calls of scripts in one run of a command (EVAL, FCALL, or EXEC with several of them). Only those of
// the final run are counted, shown to MONITOR clients and written to the ACL log.
//
// Thread: that of the worker.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acl/denial.h"
#include "command/table.h"

namespace cairn {

struct ScriptCalls {
  struct Sum {
    const Command* command;  // null: unknown command
    uint64_t calls = 0;
    uint64_t failed = 0;
    uint64_t rejected = 0;
    int64_t usec = 0;
  };
  struct Shown {
    const Command* command;
    int db;
    std::vector<std::string> argv;
  };
  struct Refused {
    DenialReason reason;
    std::string object;
  };

  std::vector<Sum> sums;
  std::vector<std::string> errors;  // error replies, without the '-'
  std::vector<Shown> shown;
  std::vector<Refused> denials;

  Sum& SumOf(const Command* command) {
    for (Sum& sum : sums) {
      if (sum.command == command) return sum;
    }
    sums.push_back({command});
    return sums.back();
  }

  void Count(const Command& command, int64_t usec, std::string_view reply) {
    Sum& sum = SumOf(&command);
    ++sum.calls;
    sum.usec += usec;
    if (reply.empty() || reply[0] != '-') return;
    ++sum.failed;
    errors.emplace_back(reply.substr(1, reply.find('\r') - 1));
  }

  // Whether a reply is the error of one of the commands, to which a script may have added a suffix.
  bool HasError(std::string_view reply) const {
    const auto begins_it = [reply](const std::string& error) { return reply.starts_with(error); };
    return !reply.empty() && std::any_of(errors.begin(), errors.end(), begins_it);
  }

  void CountRejected(const Command* command, std::string_view error) {
    ++SumOf(command).rejected;
    errors.emplace_back(error);
  }
};

}  // namespace cairn
