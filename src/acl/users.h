// SPDX-License-Identifier: BSD-3-Clause
//
// Users: the users and their permissions.
//
// A client points to its AclUser. Rules are replaced as a whole, so a call sees one consistent set, and a change
// affects the next call of every client. ACL LOAD replaces the rules of a user that exists before and after it, so its
// clients stay connected. A deleted user loses all permissions at once, because clients may point to it until they are
// closed.
//
// Thread: any. Both flags of an AclUser are atomics, so checking a user without restrictions costs one read. Its own
// mutex guards its rules; HeldRules takes it only after a change. mutex_ guards the map. Both mutexes are leaves.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "acl/user_rules.h"
#include "base/mutex.h"

namespace cairn {

inline constexpr std::string_view kDefaultUser = "default";

class AclUser {
 public:
  AclUser(std::string name, UserRules rules);

  const std::string& name() const { return name_; }
  // Whether the user may do everything, so that nothing else must be checked.
  bool is_unrestricted() const { return is_unrestricted_.load(std::memory_order_relaxed); }
  // Whether clients need no AUTH if this is the default user.
  bool is_open() const { return is_open_.load(std::memory_order_relaxed); }
  std::shared_ptr<const UserRules> rules() const;
  void Replace(UserRules rules);

 private:
  friend class HeldRules;

  const std::string name_;
  std::atomic<bool> is_unrestricted_{false};
  std::atomic<bool> is_open_{false};
  std::atomic<uint64_t> version_{0};  // of rules_: unique over all rules of all users
  mutable Mutex mutex_;
  std::shared_ptr<const UserRules> rules_ ABSL_GUARDED_BY(mutex_);
};

// Caches the rules of the last call, so that asking for the same rules again costs one read.
//
// Thread: its owner's.
class HeldRules {
 public:
  // The current rules of `user`. Valid until the next call.
  const UserRules& Of(const AclUser& user);

 private:
  uint64_t version_ = 0;
  std::shared_ptr<const UserRules> rules_;
};

using UserList = std::vector<std::shared_ptr<AclUser>>;

class Users {
 public:
  // `pubsub_default`: acl-pubsub-default, read on each call; 0 is allchannels.
  Users(Catalogue catalogue, const std::atomic<int64_t>& pubsub_default);

  const std::shared_ptr<AclUser>& default_user() const { return default_user_; }
  // Null if there is none.
  std::shared_ptr<AclUser> Find(std::string_view name) const;
  UserList All() const;  // by name

  // ACL SETUSER: applies all rules or, on an error, none. The error's text has no prefix.
  Status Set(std::string_view name, std::span<const std::string_view> rules);
  // Null if there is none. REQUIRES: not the default user
  std::shared_ptr<AclUser> Remove(std::string_view name);
  // requirepass; empty: the default user needs no password.
  void SetDefaultPassword(std::string_view password);

  // Sets users from lines of the configuration file, each a name and rules. The error is for the operator.
  Status LoadLines(const std::vector<std::string>& lines);
  // Replaces all users by the ones in an ACL file's text; `name` is the file's name in errors. A user that exists
  // before and after gets new rules. Returns the deleted users. On an error, which lists every bad line, nothing
  // changes.
  Result<UserList> LoadText(std::string_view text, std::string_view name);

  // Lines "<name> <rules>", for the ACL file.
  std::vector<std::string> Lines() const;
  // The same for the configuration file: words are quoted where necessary. LoadLines reads them.
  std::vector<std::string> QuotedLines() const;
  // Whether there is only the default user, with no other rules than requirepass sets.
  bool IsPlain(std::string_view password) const;

 private:
  using Map = std::map<std::string, std::shared_ptr<AclUser>, std::less<>>;

  RuleContext context() const { return {catalogue_, pubsub_default_.load(std::memory_order_relaxed) == 0}; }
  void LoadLine(std::string_view line, const std::string& origin, Map& loaded, std::string& errors) const;

  const Catalogue catalogue_;
  const std::atomic<int64_t>& pubsub_default_;
  const std::shared_ptr<AclUser> default_user_;
  Mutex change_mutex_;  // one change at a time
  mutable Mutex mutex_ ABSL_ACQUIRED_AFTER(change_mutex_);
  Map users_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn
