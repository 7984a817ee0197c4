// SPDX-License-Identifier: BSD-3-Clause
//
// UserRules: all that is said of a user: whether it may log in, with which passwords, and what it
// may do then.
//
// Thread: a value; the owner's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acl/selector.h"

namespace cairn {

// What rules are read against.
struct RuleContext {
  const Catalogue& catalogue;
  bool all_channels;  // acl-pubsub-default: what a new selector may do with channels
};

class UserRules {
 public:
  // A new user: off, no password, no permission.
  explicit UserRules(const RuleContext& context) { Reset(context); }
  // The default user as it is before anything is said: on, nopass, everything allowed.
  static UserRules Everything(const RuleContext& context);

  // Applies one rule of ACL SETUSER. The error is one of rule_errors.
  Status Apply(const RuleContext& context, std::string_view rule);

  bool enabled() const { return enabled_; }
  bool nopass() const { return nopass_; }
  // Enabled, with any password.
  bool is_open() const { return enabled_ && nopass_; }
  // Some selector allows everything.
  bool is_unrestricted() const;
  // Whether the user may log in with this password.
  bool Accepts(std::string_view password) const;

  const std::vector<std::string>& passwords() const { return passwords_; }  // SHA-256, hexadecimal
  const std::vector<Selector>& selectors() const { return selectors_; }     // the root is the first
  std::vector<std::string_view> Flags() const;                              // "on", "nopass"
  // "on nopass ~* &* +@all": rules that make the same user again.
  std::string Describe() const;

 private:
  void Reset(const RuleContext& context);
  bool ApplyWord(const RuleContext& context, std::string_view word);
  Status ApplyPassword(std::string_view rule);
  Status AddSelector(const RuleContext& context, std::string_view rule);

  bool enabled_ = false;
  bool nopass_ = false;
  // skip-sanitize-payload or sanitize-payload, as it was said last. Only shown: RESTORE always checks.
  std::string_view sanitizing_;
  std::vector<std::string> passwords_;
  std::vector<Selector> selectors_;
};

// Joins the words between "(" and ")" to one word for each selector. An error when a parenthesis is not closed; it says
// where it was opened.
Result<std::vector<std::string>> MergeSelectors(std::span<const std::string_view> words);

}  // namespace cairn
