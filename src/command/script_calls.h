// SPDX-License-Identifier: BSD-3-Clause
//
// ScriptCalls: the calls of scripts in one run of a command (EVAL, FCALL, or EXEC with several of them). Only those of
// the final run are counted, shown to MONITOR clients and written to the ACL log. A script may make millions of calls,
// so all calls are counted, but only some are kept.
//
// Thread: that of the worker.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
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

  static constexpr size_t kMostErrorTexts = 16;
  static constexpr size_t kMostCodeBytes = 64;
  static constexpr size_t kMostShownBytes = 4 << 20;
  static constexpr size_t kMostDenials = 128;
  static constexpr size_t kMostTextBytes = 2048;  // of an error and of a denied object; the rest is cut

  std::vector<Sum> sums;
  std::map<std::string, uint64_t, std::less<>> errors;  // by code (WRONGTYPE); commands have few codes
  std::deque<std::string> error_texts;                  // the last different ones, without the '-'
  std::vector<Shown> shown;                             // the first calls, up to kMostShownBytes
  size_t shown_bytes = 0;
  uint64_t calls_not_shown = 0;
  std::vector<Refused> denials;  // the first kMostDenials

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
    CountError(reply.substr(1, reply.find('\r') - 1));
  }

  // Whether a reply is the error of one of the commands, to which a script may have added a suffix.
  bool HasError(std::string_view reply) const {
    const auto begins_it = [reply](const std::string& error) { return reply.starts_with(error); };
    return !reply.empty() && std::any_of(error_texts.begin(), error_texts.end(), begins_it);
  }

  void CountRejected(const Command* command, std::string_view error) {
    ++SumOf(command).rejected;
    CountError(error);
  }

  // Counts an error, which is given without the '-'.
  void CountError(std::string_view error) {
    const std::string_view code = error.substr(0, std::min(error.find(' '), kMostCodeBytes));
    const auto found = errors.find(code);
    if (found == errors.end()) {
      errors.emplace(code, uint64_t{1});
    } else {
      ++found->second;
    }
    const std::string_view text = error.substr(0, kMostTextBytes);
    if (std::find(error_texts.begin(), error_texts.end(), text) != error_texts.end()) return;
    if (error_texts.size() == kMostErrorTexts) error_texts.pop_front();
    error_texts.emplace_back(text);
  }

  // Keeps a call for MONITOR.
  void Show(const Command& command, int db, std::span<const std::string_view> argv) {
    size_t bytes = sizeof(Shown);
    for (const std::string_view arg : argv) bytes += sizeof(std::string) + arg.size();
    if (calls_not_shown > 0 || bytes > kMostShownBytes - shown_bytes) {
      ++calls_not_shown;
      return;
    }
    shown_bytes += bytes;
    shown.push_back({&command, db, {argv.begin(), argv.end()}});
  }

  // Keeps a refused call for the ACL log.
  void Deny(DenialReason reason, std::string_view object) {
    if (denials.size() == kMostDenials) return;
    denials.push_back({reason, std::string(object.substr(0, kMostTextBytes))});
  }
};

}  // namespace cairn
