// SPDX-License-Identifier: BSD-3-Clause
//
// The rules of cairn-doctor: a table of pure functions. Each looks at one subject, and says in sentences what is wrong
// and what to do about it. MEMORY DOCTOR uses the rule of the budget.
//
// Thread: any; pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"

namespace cairn {

// kNotice: worth knowing. kWarning: needs an action some day. kCritical: data or service are at risk now.
enum class Severity : unsigned char { kNotice, kWarning, kCritical };
std::string_view NameOf(Severity severity);

struct Finding {
  std::string_view rule;
  Severity severity;
  std::string problem;
  std::string action;
};

struct Rule {
  std::string_view name;
  void (*check)(const Facts& facts, std::vector<Finding>& findings);  // leaves Finding::rule empty
};
std::span<const Rule> Rules();

// The findings of all rules, the most severe first.
std::vector<Finding> Examine(const Facts& facts);

// Whether the process is larger than memory-budget. Reads used_rss_bytes and memory_budget.
void CheckBudget(const Facts& facts, std::vector<Finding>& findings);

}  // namespace cairn
