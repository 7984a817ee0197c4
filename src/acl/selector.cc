// SPDX-License-Identifier: BSD-3-Clause
#include "acl/selector.h"

#include <algorithm>

#include "acl/rule_errors.h"
#include "base/glob.h"
#include "base/number.h"
#include "base/words.h"

namespace cairn {

bool HasBlank(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; });
}

// Applies a rule that is one word. False if `text` is not such a rule.
bool Selector::ApplyWord(std::string_view text) {
  const std::string word = LowerCase(text);
  if (word == "allkeys" || word == "~*" || word == "resetkeys") {
    all_keys_ = word != "resetkeys";
    keys_.clear();
  } else if (word == "allchannels" || word == "&*" || word == "resetchannels") {
    all_channels_ = word != "resetchannels";
    channels_.clear();
  } else if (word == "alldbs" || word == "resetdbs") {
    all_databases_ = word == "alldbs";
    databases_.clear();
  } else if (word == "allcommands" || word == "nocommands") {
    commands_.StartFrom(word == "allcommands");
  } else {
    return false;
  }
  return true;
}

Status Selector::AddKeyPattern(std::string_view rule) {
  if (all_keys_) return Status::Reply(rule_errors::kKeysAfterAll);
  uint8_t access = 0;
  size_t next = 1;
  if (rule.front() == '~') access = kReadsKey | kWritesKey;
  for (bool in_letters = rule.front() == '%'; in_letters && next < rule.size(); ++next) {
    const char c = rule[next];
    const uint8_t bit = c == 'R' || c == 'r' ? kReadsKey : c == 'W' || c == 'w' ? kWritesKey : 0;
    in_letters = bit != 0;
    if (!in_letters && c != '~') return Status::Reply(rule_errors::kSyntax);
    if (access & bit) return Status::Reply(rule_errors::kSyntax);
    access |= bit;
  }
  const std::string_view pattern = rule.substr(next);
  if (access == 0 || HasBlank(pattern)) return Status::Reply(rule_errors::kSyntax);
  const auto same =
      std::find_if(keys_.begin(), keys_.end(), [&](const KeyPattern& key) { return key.pattern == pattern; });
  if (same != keys_.end()) {
    same->access |= access;
  } else {
    const bool is_prefix = !pattern.empty() && pattern.find_first_of("*?[\\") == pattern.size() - 1;
    keys_.push_back({std::string(pattern), access, is_prefix && pattern.back() == '*'});
  }
  return Ok();
}

Status Selector::AddChannelPattern(std::string_view pattern) {
  if (all_channels_) return Status::Reply(rule_errors::kChannelsAfterAll);
  if (HasBlank(pattern)) return Status::Reply(rule_errors::kSyntax);
  if (std::find(channels_.begin(), channels_.end(), pattern) == channels_.end()) {
    channels_.emplace_back(pattern);
  }
  return Ok();
}

// The list replaces an earlier one, as in Valkey.
Status Selector::SetDatabases(std::string_view list) {
  std::vector<int64_t> databases;
  for (bool more = true; more;) {
    const size_t end = std::min(list.find(','), list.size());
    const auto db = ParseInt64(list.substr(0, end));
    if (!db) return Status::Reply(rule_errors::kSyntax);
    if (*db < 0 || *db > INT32_MAX) return Status::Reply(rule_errors::kBadDatabase);
    databases.push_back(*db);
    more = end < list.size();
    if (more) list.remove_prefix(end + 1);
  }
  std::sort(databases.begin(), databases.end());
  databases.erase(std::unique(databases.begin(), databases.end()), databases.end());
  databases_ = std::move(databases);
  all_databases_ = false;
  return Ok();
}

Status Selector::Apply(const Catalogue& catalogue, std::string_view rule) {
  constexpr std::string_view kDatabases = "db=";
  if (rule.empty() || ApplyWord(rule)) return Ok();
  if (EqualsIgnoreCase(rule.substr(0, kDatabases.size()), kDatabases)) {
    return SetDatabases(rule.substr(kDatabases.size()));
  }
  switch (rule.front()) {
    case '~':
    case '%': return AddKeyPattern(rule);
    case '&': return AddChannelPattern(rule.substr(1));
    case '+':
    case '-': return commands_.Apply(catalogue, rule);
    default: return Status::Reply(rule_errors::kSyntax);
  }
}

bool Selector::KeyPattern::Matches(std::string_view key) const {
  if (is_prefix && !key.empty()) return key.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1));
  return GlobMatches(pattern, key);
}

bool Selector::AllowsKey(std::string_view key, uint8_t access) const {
  if (all_keys_) return true;
  return std::any_of(keys_.begin(), keys_.end(), [&](const KeyPattern& pattern) {
    return (pattern.access & access) == access && pattern.Matches(key);
  });
}

bool Selector::AllowsEveryKey(uint8_t access) const {
  if (all_keys_) return true;
  return std::any_of(keys_.begin(), keys_.end(), [&](const KeyPattern& pattern) {
    return (pattern.access & access) == access && pattern.pattern == "*";
  });
}

bool Selector::AllowsChannel(std::string_view channel, bool is_pattern) const {
  if (all_channels_) return true;
  return std::any_of(channels_.begin(), channels_.end(), [&](const std::string& pattern) {
    return is_pattern ? pattern == channel : GlobMatches(pattern, channel);
  });
}

bool Selector::AllowsDatabase(int64_t db) const {
  return all_databases_ || std::binary_search(databases_.begin(), databases_.end(), db);
}

std::string Selector::DescribeKeys() const {
  if (AllowsEveryKey(kReadsKey | kWritesKey)) return "~*";  // no rule for keys may follow it
  std::string text;
  for (const KeyPattern& key : keys_) {
    if (!text.empty()) text.push_back(' ');
    if (key.access == kReadsKey) text.append("%R");
    if (key.access == kWritesKey) text.append("%W");
    text.append("~").append(key.pattern);
  }
  return text;
}

std::string Selector::DescribeChannels() const {
  if (all_channels_) return "&*";
  std::string text;
  for (const std::string& channel : channels_) {
    text.append(text.empty() ? "&" : " &").append(channel);
  }
  return text;
}

std::string Selector::DescribeDatabases() const {
  if (all_databases_) return "alldbs";
  std::string text;
  for (const int64_t db : databases_) text.append(text.empty() ? "db=" : ",").append(std::to_string(db));
  return text;
}

std::string Selector::Describe() const {
  std::string text = DescribeKeys();
  if (!text.empty()) text.push_back(' ');
  if (!all_channels_) text.append("resetchannels ");
  const std::string channels = DescribeChannels();
  text.append(channels);
  if (!channels.empty()) text.push_back(' ');
  if (!all_databases_) text.append(databases_.empty() ? "resetdbs" : DescribeDatabases()).push_back(' ');
  return text.append(commands_.Describe());
}

}  // namespace cairn
