// SPDX-License-Identifier: BSD-3-Clause
//
// Selector: one set of permissions: commands, keys and channels. A user has a root selector and any
// number of others; a call is allowed when one of them allows all of it.
//
// A key pattern says what may be done with the keys that match: ~p everything, %R~p reading, %W~p
// writing. Redis tells by a key's flags in the command's row what a call does with it.
//
// Thread: a value; the owner's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "acl/command_rules.h"

namespace cairn {

// What is done with a key, as bits.
inline constexpr uint8_t kReadsKey = 1;
inline constexpr uint8_t kWritesKey = 2;

class Selector {
 public:
  // Without any permission but, if told so, to all channels.
  Selector(size_t commands, bool all_channels) : commands_(commands), all_channels_(all_channels) {}

  // Applies one rule. The error is one of rule_errors.
  Status Apply(const Catalogue& catalogue, std::string_view rule);

  // Everything, of whatever kind.
  bool is_unrestricted() const { return commands_.allows_all() && all_keys_ && all_channels_; }
  const CommandRules& commands() const { return commands_; }
  // Every key, of whatever name: ~*, or, for reading alone, %R~*.
  bool AllowsEveryKey(uint8_t access) const;
  bool AllowsKey(std::string_view key, uint8_t access) const;
  // A pattern to subscribe to must stand among the rules as it is.
  bool AllowsChannel(std::string_view channel, bool is_pattern) const;

  std::string DescribeKeys() const;      // "%R~a ~b"
  std::string DescribeChannels() const;  // "&a &b"
  // "~b resetchannels &a -@all +get": rules that make the same selector again.
  std::string Describe() const;

 private:
  struct KeyPattern {
    std::string pattern;
    uint8_t access = 0;
    bool is_prefix = false;  // nothing but a star at its end is special

    bool Matches(std::string_view key) const;
  };

  Status AddKeyPattern(std::string_view rule);
  Status AddChannelPattern(std::string_view pattern);
  bool ApplyWord(std::string_view word);

  CommandRules commands_;
  bool all_keys_ = false;
  bool all_channels_ = false;
  std::vector<KeyPattern> keys_;
  std::vector<std::string> channels_;
};

// Whether there is a blank, a line's end or a zero byte in what must have none.
bool HasBlank(std::string_view text);

}  // namespace cairn
