// SPDX-License-Identifier: BSD-3-Clause
//
// CommandRules: the commands that a user may run, given by rules such as +get, -config|set, +@read or +select|0, which
// are applied in order to all commands (+@all) or none (-@all).
//
// The rules are kept in their original form, as in Redis 7.2: applying the description again gives the same
// permissions. A rule replaces an earlier one about the same command or category, and a rule about a command replaces
// rules about its subcommands. A rule without present effect is kept: a category may get more commands.
//
// Thread: a value; its owner's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "acl/catalogue.h"
#include "base/result.h"

namespace cairn {

class CommandRules {
 public:
  explicit CommandRules(size_t commands) : allowed_(commands, false) {}

  // Resets to all commands or none.
  void StartFrom(bool all);
  // Applies a rule that starts with + or -. The error is one of rule_errors.
  Status Apply(const Catalogue& catalogue, std::string_view rule);

  // Whether all commands are allowed without exception.
  bool allows_all() const { return all_; }
  // `first_argument` follows the command's name; empty if there is none.
  bool Allows(uint32_t id, std::string_view first_argument) const;

  // "-@all +get +config|get"
  std::string Describe() const;

 private:
  struct Rule {
    bool allow = false;
    std::string name;       // "get", "config|get", "@read", or "select|0" with an argument
    uint32_t id = 0;        // of the command
    uint32_t category = 0;  // the bit of a category, instead of a command
    std::string argument;   // the only first argument allowed, if the rule names one
  };

  static Result<Rule> Parse(const Catalogue& catalogue, std::string_view rule);
  static Result<Rule> ParseWithArgument(const Catalogue& catalogue, std::string_view name);
  // Whether `later` cancels `earlier` completely.
  static bool Replaces(const Rule& later, const Rule& earlier);
  void Enact(const Catalogue& catalogue, const Rule& rule);
  void SetOne(uint32_t id, bool allow);
  void SetWithChildren(const Catalogue& catalogue, uint32_t id, bool allow);

  bool from_all_ = false;
  bool all_ = false;
  std::vector<bool> allowed_;                               // by id
  std::map<uint32_t, std::vector<std::string>> arguments_;  // allowed first arguments, if the command is not allowed
  std::vector<Rule> rules_;
};

}  // namespace cairn
