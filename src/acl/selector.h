// SPDX-License-Identifier: BSD-3-Clause
//
// Selector: one set of permissions: commands, keys, channels and databases. A user has a root selector and any number
// of others; a call is allowed if one of them allows it completely.
//
// A key pattern gives an access to the matching keys: ~p full access, %R~p read, %W~p write. As in Redis, the flags of
// a key in the command's row determine the access that a call needs.
//
// Thread: a value; its owner's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "acl/command_rules.h"

namespace cairn {

// Kinds of access to a key, as bits.
inline constexpr uint8_t kReadsKey = 1;
inline constexpr uint8_t kWritesKey = 2;

class Selector {
 public:
  // A selector without permissions, except for all databases, and for all channels if `all_channels`.
  Selector(size_t commands, bool all_channels) : commands_(commands), all_channels_(all_channels) {}

  // Applies one rule. The error is one of rule_errors.
  Status Apply(const Catalogue& catalogue, std::string_view rule);

  // Whether it allows everything.
  bool is_unrestricted() const { return commands_.allows_all() && all_keys_ && all_channels_ && all_databases_; }
  const CommandRules& commands() const { return commands_; }
  // Whether it allows every key: by ~*, or, for reading only, by %R~*.
  bool AllowsEveryKey(uint8_t access) const;
  bool AllowsKey(std::string_view key, uint8_t access) const;
  // A pattern to subscribe to is allowed only if the rules contain the same pattern.
  bool AllowsChannel(std::string_view channel, bool is_pattern) const;
  bool allows_all_databases() const { return all_databases_; }
  bool AllowsDatabase(int64_t db) const;

  std::string DescribeKeys() const;       // "%R~a ~b"
  std::string DescribeChannels() const;   // "&a &b"
  std::string DescribeDatabases() const;  // "alldbs", "db=0,3", or nothing
  // "~b resetchannels &a -@all +get": rules that make the same selector.
  std::string Describe() const;

 private:
  struct KeyPattern {
    std::string pattern;
    uint8_t access = 0;
    bool is_prefix = false;  // ends with a star and has no other special character

    bool Matches(std::string_view key) const;
  };

  Status AddKeyPattern(std::string_view rule);
  Status AddChannelPattern(std::string_view pattern);
  Status SetDatabases(std::string_view list);
  bool ApplyWord(std::string_view word);

  CommandRules commands_;
  bool all_keys_ = false;
  bool all_channels_ = false;
  std::vector<KeyPattern> keys_;
  std::vector<std::string> channels_;
  bool all_databases_ = true;
  std::vector<int64_t> databases_;  // in order, each once
};

// Whether the text contains a blank, a line end or a zero byte, which Redis forbids in names and patterns.
bool HasBlank(std::string_view text);

}  // namespace cairn
