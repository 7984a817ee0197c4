// SPDX-License-Identifier: BSD-3-Clause
#include "acl/command_rules.h"

#include <algorithm>

#include "acl/rule_errors.h"
#include "acl/selector.h"

namespace cairn {

void CommandRules::StartFrom(bool all) {
  from_all_ = all_ = all;
  allowed_.assign(allowed_.size(), all);
  arguments_.clear();
  rules_.clear();
}

Result<CommandRules::Rule> CommandRules::ParseWithArgument(const Catalogue& catalogue, std::string_view name) {
  const size_t bar = name.rfind('|');
  const auto command = catalogue.Find(name.substr(0, bar));
  if (!command) return Status::Reply(rule_errors::kUnknown);
  const CatalogueEntry& entry = catalogue.at(*command);
  if (entry.is_subcommand) return Status::Reply(rule_errors::kArgumentOfSubcommand);
  const std::string_view argument = name.substr(bar + 1);
  if (argument.empty() || HasBlank(argument)) return Status::Reply(rule_errors::kSyntax);
  Rule rule{.allow = true};
  if (entry.children.empty()) {
    rule.id = *command;
    rule.argument = argument;
    rule.name = entry.name + "|" + rule.argument;
    return rule;
  }
  const auto subcommand = catalogue.Find(name);
  if (!subcommand) return Status::Reply(rule_errors::kUnknown);
  rule.id = *subcommand;
  rule.name = catalogue.at(*subcommand).name;
  return rule;
}

Result<CommandRules::Rule> CommandRules::Parse(const Catalogue& catalogue, std::string_view text) {
  Rule rule{.allow = text.front() == '+'};
  const std::string_view name = text.substr(1);
  if (name.starts_with('@')) {
    rule.category = catalogue.CategoryBit(name.substr(1));
    if (rule.category == 0) return Status::Reply(rule_errors::kUnknown);
    rule.name = LowerCase(name);
    return rule;
  }
  if (rule.allow && name.find('|') != name.npos) return ParseWithArgument(catalogue, name);
  const auto command = catalogue.Find(name);
  if (!command) return Status::Reply(rule_errors::kUnknown);
  rule.id = *command;
  rule.name = catalogue.at(*command).name;
  return rule;
}

bool CommandRules::Replaces(const Rule& later, const Rule& earlier) {
  if (later.name == earlier.name) return true;
  const bool is_about_commands = later.category == 0 && earlier.category == 0;
  return is_about_commands && earlier.name.starts_with(later.name + "|");
}

void CommandRules::SetOne(uint32_t id, bool allow) {
  arguments_.erase(id);
  allowed_[id] = allow;
  all_ = all_ && allow;
}

void CommandRules::SetWithChildren(const Catalogue& catalogue, uint32_t id, bool allow) {
  SetOne(id, allow);
  for (const uint32_t child : catalogue.at(id).children) SetOne(child, allow);
}

void CommandRules::Enact(const Catalogue& catalogue, const Rule& rule) {
  if (!rule.argument.empty()) {
    arguments_[rule.id].push_back(rule.argument);
  } else if (rule.category == 0) {
    SetWithChildren(catalogue, rule.id, rule.allow);
  } else {
    for (uint32_t id = 0; id < catalogue.size(); ++id) {
      if (catalogue.at(id).categories & rule.category) SetWithChildren(catalogue, id, rule.allow);
    }
  }
}

Status CommandRules::Apply(const Catalogue& catalogue, std::string_view text) {
  if (LowerCase(text.substr(1)) == "@all") {
    StartFrom(text.front() == '+');
    return Ok();
  }
  Rule rule = TRY(Parse(catalogue, text));
  std::erase_if(rules_, [&](const Rule& earlier) { return Replaces(rule, earlier); });
  Enact(catalogue, rule);
  rules_.push_back(std::move(rule));
  return Ok();
}

bool CommandRules::Allows(uint32_t id, std::string_view first_argument) const {
  if (all_ || allowed_[id]) return true;
  const auto found = arguments_.find(id);
  if (found == arguments_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](const std::string& argument) { return LowerCase(argument) == LowerCase(first_argument); });
}

std::string CommandRules::Describe() const {
  std::string text = from_all_ ? "+@all" : "-@all";
  for (const Rule& rule : rules_) text.append(rule.allow ? " +" : " -").append(rule.name);
  return text;
}

}  // namespace cairn
