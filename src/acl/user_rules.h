// SPDX-License-Identifier: BSD-3-Clause
//
// UserRules: all rules of a user: whether login is allowed, the passwords, and the permissions.
//
// Thread: a value; its owner's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acl/selector.h"

namespace cairn {

// The context that rules depend on.
struct RuleContext {
  const Catalogue& catalogue;
  bool all_channels;  // acl-pubsub-default: whether a new selector allows all channels
};

class UserRules {
 public:
  // A new user: off, no password, no permission.
  explicit UserRules(const RuleContext& context) { Reset(context); }
  // The default user before any rule: on, nopass, everything allowed.
  static UserRules Everything(const RuleContext& context);

  // Applies one rule of ACL SETUSER. The error is one of rule_errors.
  Status Apply(const RuleContext& context, std::string_view rule);

  bool enabled() const { return enabled_; }
  bool nopass() const { return nopass_; }
  // Whether the user is enabled and needs no password.
  bool is_open() const { return enabled_ && nopass_; }
  // Whether one selector allows everything.
  bool is_unrestricted() const;
  // Whether the user may log in with this password.
  bool Accepts(std::string_view password) const;

  const std::vector<std::string>& passwords() const { return passwords_; }  // SHA-256, hexadecimal
  const std::vector<Selector>& selectors() const { return selectors_; }     // the root is the first
  std::vector<std::string_view> Flags() const;                              // "on", "nopass"
  // "on nopass ~* &* +@all": rules that make the same user.
  std::string Describe() const;

 private:
  void Reset(const RuleContext& context);
  bool ApplyWord(const RuleContext& context, std::string_view word);
  Status ApplyPassword(std::string_view rule);
  Status AddSelector(const RuleContext& context, std::string_view rule);

  bool enabled_ = false;
  bool nopass_ = false;
  // The last of skip-sanitize-payload and sanitize-payload. Only shown: RESTORE always checks.
  std::string_view sanitizing_;
  std::vector<std::string> passwords_;
  std::vector<Selector> selectors_;
};

// Joins the words between "(" and ")" to one word per selector. If a parenthesis is not closed, the error names the
// word that opened it.
Result<std::vector<std::string>> MergeSelectors(std::span<const std::string_view> words);

}  // namespace cairn
