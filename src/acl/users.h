// SPDX-License-Identifier: BSD-3-Clause
//
// Users: who may log in and what each may do.
//
// A client points at its AclUser. Rules are replaced as a whole, so a call sees those of one moment,
// and a change is in force for the next call of every client. A user that is removed, or replaced
// by ACL LOAD, loses every right at once, as clients may still point at it until they are closed.
//
// Thread: any. An AclUser's two flags are atomics, so that the check of a user without restrictions
// is one read; its rules are guarded by its own mutex, which HeldRules takes only after a change, and
// the map of users by mutex_. Both are leaves.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "acl/user_rules.h"

namespace cairn {

inline constexpr std::string_view kDefaultUser = "default";

class AclUser {
 public:
  AclUser(std::string name, UserRules rules);

  const std::string& name() const { return name_; }
  // May do everything: nothing else needs to be asked.
  bool is_unrestricted() const { return is_unrestricted_.load(std::memory_order_relaxed); }
  // Lets everybody in without AUTH, if it is the default user.
  bool is_open() const { return is_open_.load(std::memory_order_relaxed); }
  std::shared_ptr<const UserRules> rules() const;
  void Replace(UserRules rules);

 private:
  friend class HeldRules;

  const std::string name_;
  std::atomic<bool> is_unrestricted_{false};
  std::atomic<bool> is_open_{false};
  std::atomic<uint64_t> version_{0};  // of rules_: another one for each that any user ever had
  mutable std::mutex mutex_;
  std::shared_ptr<const UserRules> rules_;
};

// The rules that were asked for last, held so that asking for the same again is one read.
//
// Thread: the owner's.
class HeldRules {
 public:
  // Those in force now. Valid until the next call.
  const UserRules& Of(const AclUser& user);

 private:
  uint64_t version_ = 0;
  std::shared_ptr<const UserRules> rules_;
};

using UserList = std::vector<std::shared_ptr<AclUser>>;

class Users {
 public:
  // `pubsub_default`: acl-pubsub-default, read with each call; 0 is allchannels.
  Users(Catalogue catalogue, const std::atomic<int64_t>& pubsub_default);

  const std::shared_ptr<AclUser>& default_user() const { return default_user_; }
  // Null when there is none.
  std::shared_ptr<AclUser> Find(std::string_view name) const;
  UserList All() const;  // by name

  // ACL SETUSER: all rules or, on an error, none. The error's text is without a prefix.
  Status Set(std::string_view name, std::span<const std::string_view> rules);
  // Null when there is none. REQUIRES: not the default user
  std::shared_ptr<AclUser> Remove(std::string_view name);
  // requirepass; empty: the default user needs no password.
  void SetDefaultPassword(std::string_view password);

  // Sets users from lines of the configuration file, each a name and rules. The error is for the
  // operator.
  Status LoadLines(const std::vector<std::string>& lines);
  // Replaces all users by those of an ACL file's text; `name` stands in errors. Returns those who
  // are no more; on an error, which tells of every line, nothing changes.
  Result<UserList> LoadText(std::string_view text, std::string_view name);

  // Lines "<name> <rules>", for both kinds of files.
  std::vector<std::string> Lines() const;
  // There is only the default user, as requirepass alone makes it.
  bool IsPlain(std::string_view password) const;

 private:
  using Map = std::map<std::string, std::shared_ptr<AclUser>, std::less<>>;

  RuleContext context() const { return {catalogue_, pubsub_default_.load(std::memory_order_relaxed) == 0}; }
  void LoadLine(std::string_view line, const std::string& origin, Map& loaded, std::string& errors) const;

  const Catalogue catalogue_;
  const std::atomic<int64_t>& pubsub_default_;
  const std::shared_ptr<AclUser> default_user_;
  std::mutex change_mutex_;  // one change at a time; before mutex_
  mutable std::mutex mutex_;
  Map users_;
};

}  // namespace cairn
