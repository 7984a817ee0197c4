// SPDX-License-Identifier: BSD-3-Clause
#include "acl/users.h"

#include <fmt/format.h>

#include "acl/rule_errors.h"
#include "base/words.h"

namespace cairn {
namespace {

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end = text.find(separator); end != text.npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

std::string_view Trim(std::string_view text, std::string_view blanks) {
  const size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

UserRules WithPassword(const RuleContext& context, UserRules rules, std::string_view password) {
  Status applied = rules.Apply(context, password.empty() ? "nopass" : "resetpass");
  if (!password.empty()) applied = rules.Apply(context, ">" + std::string(password));
  ASSERT(applied.ok(), "any password can be added");
  return rules;
}

}  // namespace

AclUser::AclUser(std::string name, UserRules rules) : name_(std::move(name)) { Replace(std::move(rules)); }

std::shared_ptr<const UserRules> AclUser::rules() const {
  const MutexLock lock(mutex_);
  return rules_;
}

void AclUser::Replace(UserRules rules) {
  static std::atomic<uint64_t> last_version{0};
  auto replaced = std::make_shared<const UserRules>(std::move(rules));
  const MutexLock lock(mutex_);
  is_unrestricted_ = replaced->is_unrestricted();
  is_open_ = replaced->is_open();
  version_.store(last_version.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_release);
  rules_.swap(replaced);
}

const UserRules& HeldRules::Of(const AclUser& user) {
  if (user.version_.load(std::memory_order_acquire) != version_) {
    const MutexLock lock(user.mutex_);
    version_ = user.version_.load(std::memory_order_relaxed);
    rules_ = user.rules_;
  }
  return *rules_;
}

Users::Users(Catalogue catalogue, const std::atomic<int64_t>& pubsub_default)
    : catalogue_(std::move(catalogue)), pubsub_default_(pubsub_default),
      default_user_(std::make_shared<AclUser>(std::string(kDefaultUser), UserRules::Everything({catalogue_, true}))) {
  users_.emplace(kDefaultUser, default_user_);
}

std::shared_ptr<AclUser> Users::Find(std::string_view name) const {
  const MutexLock lock(mutex_);
  const auto found = users_.find(name);
  return found == users_.end() ? nullptr : found->second;
}

UserList Users::All() const {
  const MutexLock lock(mutex_);
  UserList all;
  for (const auto& [name, user] : users_) all.push_back(user);
  return all;
}

Status Users::Set(std::string_view name, std::span<const std::string_view> words) {
  const std::vector<std::string> rules = TRY(MergeSelectors(words));
  const RuleContext now = context();
  const MutexLock one_at_a_time(change_mutex_);
  const std::shared_ptr<AclUser> user = Find(name);
  UserRules changed = user == nullptr ? UserRules(now) : *user->rules();
  for (const std::string& rule : rules) {
    const Status applied = changed.Apply(now, rule);
    if (applied.ok()) continue;
    return Status::Reply(fmt::format("Error in ACL SETUSER modifier '{}': {}", rule, applied.text()));
  }
  if (user != nullptr) {
    user->Replace(std::move(changed));
    return Ok();
  }
  auto added = std::make_shared<AclUser>(std::string(name), std::move(changed));
  const MutexLock lock(mutex_);
  users_.emplace(name, std::move(added));
  return Ok();
}

std::shared_ptr<AclUser> Users::Remove(std::string_view name) {
  ASSERT(name != kDefaultUser, "the default user stays");
  const MutexLock one_at_a_time(change_mutex_);
  std::shared_ptr<AclUser> removed;
  {
    const MutexLock lock(mutex_);
    const auto found = users_.find(name);
    if (found == users_.end()) return nullptr;
    removed = std::move(found->second);
    users_.erase(found);
  }
  removed->Replace(UserRules({catalogue_, false}));
  return removed;
}

void Users::SetDefaultPassword(std::string_view password) {
  const MutexLock one_at_a_time(change_mutex_);
  default_user_->Replace(WithPassword(context(), *default_user_->rules(), password));
}

Status Users::LoadLines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    const auto words = SplitWords(line);
    const bool has_name = words && !words->empty();
    if (!has_name || HasBlank(words->front())) return Status::Io("spaces not allowed in ACL usernames");
    std::vector<std::string_view> rules(words->begin() + 1, words->end());
    if (words->front() == kDefaultUser) rules.insert(rules.begin(), "reset");
    const Status set = Set(words->front(), rules);
    if (!set.ok()) return Status::Io(fmt::format("user {}: {}", words->front(), set.text()));
  }
  return Ok();
}

void Users::LoadLine(std::string_view line, const std::string& origin, Map& loaded, std::string& errors) const {
  const RuleContext now = context();
  const std::vector<std::string_view> words = SplitAt(line, ' ');
  if (words.size() < 2 || words[0] != "user") {
    errors += origin + " should start with user keyword followed by the username. ";
    return;
  }
  const std::string name(words[1]);
  if (HasBlank(name)) {
    errors += "'" + origin + ": username '" + name + "' contains invalid characters. ";
    return;
  }
  if (loaded.contains(name)) {
    const std::string number = origin.substr(origin.rfind(':') + 1);
    errors += "WARNING: Duplicate user '" + name + "' found on line " + number + ". ";
    return;
  }
  UserRules rules(now);
  const auto merged = MergeSelectors(std::span(words).subspan(2));
  if (!merged.ok()) {
    errors += origin + ": Unmatched parenthesis in selector definition.";
    return;
  }
  bool told = false;
  for (const std::string& word : *merged) {
    const std::string_view rule = Trim(word, "\t\r\n");
    const Status applied = rules.Apply(now, rule);
    if (applied.ok()) continue;
    const std::string text(applied.text());
    if (text == rule_errors::kUnknown) {
      errors += fmt::format("{}: Error in applying operation '{}': {}. ", origin, rule, text);
    } else if (!std::exchange(told, true)) {
      errors += origin + ": " + text + ". ";  // the rule is not shown: it may be a password
    }
  }
  loaded.emplace(name, std::make_shared<AclUser>(name, std::move(rules)));
}

Result<UserList> Users::LoadText(std::string_view text, std::string_view name) {
  const MutexLock one_at_a_time(change_mutex_);
  Map loaded;
  std::string errors;
  int number = 0;
  for (const std::string_view whole : SplitAt(text, '\n')) {
    ++number;
    const std::string_view line = Trim(whole, " \t\r\n");
    if (line.empty()) continue;
    LoadLine(line, fmt::format("{}:{}", name, number), loaded, errors);
  }
  if (!errors.empty()) {
    return Status::Reply(errors +
                         "WARNING: ACL errors detected, no change to the previously active "
                         "ACL rules was performed");
  }
  if (!loaded.contains(kDefaultUser)) default_user_->Replace(UserRules::Everything({catalogue_, true}));
  loaded.try_emplace(std::string(kDefaultUser), default_user_);
  UserList gone;
  for (const auto& user : All()) {
    const auto found = loaded.find(user->name());
    if (found == loaded.end()) {
      gone.push_back(user);
    } else if (found->second != user) {
      user->Replace(*found->second->rules());
      found->second = user;
    }
  }
  {
    const MutexLock lock(mutex_);
    users_.swap(loaded);
  }
  for (const auto& user : gone) user->Replace(UserRules({catalogue_, false}));
  return gone;
}

std::vector<std::string> Users::Lines() const {
  std::vector<std::string> lines;
  for (const auto& user : All()) lines.push_back(user->name() + " " + user->rules()->Describe());
  return lines;
}

std::vector<std::string> Users::QuotedLines() const {
  std::vector<std::string> lines = Lines();
  for (std::string& line : lines) {
    std::string quoted;
    for (const std::string_view word : SplitAt(line, ' ')) {
      quoted.append(quoted.empty() ? "" : " ").append(QuoteWordIfNeeded(word));
    }
    line = std::move(quoted);
  }
  return lines;
}

bool Users::IsPlain(std::string_view password) const {
  const UserList all = All();
  const UserRules plain = WithPassword(context(), UserRules::Everything({catalogue_, true}), password);
  return all.size() == 1 && all.front()->rules()->Describe() == plain.Describe();
}

}  // namespace cairn
