// SPDX-License-Identifier: BSD-3-Clause
#include "client/accounts.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "acl/access_log.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/replace_file.h"
#include "client/client_line.h"
#include "client/client_registry.h"
#include "client/client_session.h"
#include "client/pubsub.h"
#include "config/config.h"

namespace cairn {
namespace {

std::filesystem::path AclFilePath(const Config& config) {
  return std::filesystem::path(config.Text("dir")) / config.Text("aclfile");
}

void WarnOfDisabled(const Users& users) {
  for (const auto& user : users.All()) {
    if (user->rules()->enabled()) continue;
    Log(LogSeverity::kNotice, "The user '{}' is disabled: its rules lack 'on'.", user->name());
  }
}

// The caller's connection closes after its reply.
void Close(Session& session, const Session& caller) {
  const bool is_caller = session.id() == caller.id();
  session.close = is_caller ? CloseRequest::kAfterReply : CloseRequest::kNow;
  if (!is_caller) session.Wake();
}

}  // namespace

Status LoadUsers(Users& users, const Config& config) {
  users.SetDefaultPassword(config.Text("requirepass"));
  const std::vector<std::string> lines = config.Words("user");
  const bool has_file = !config.Text("aclfile").empty();
  if (has_file && !lines.empty()) {
    return Status::Io(
        "users are defined both in the configuration ('user') and in an ACL file ('aclfile'); "
        "use one of them");
  }
  TRY(users.LoadLines(lines));
  if (has_file) {
    const auto loaded = ReloadAclFile(users, config);
    if (!loaded.ok()) return Status::Io(loaded.status().text());
  }
  WarnOfDisabled(users);
  return Ok();
}

Result<UserList> ReloadAclFile(Users& users, const Config& config) {
  const std::string name = config.Text("aclfile");
  std::ostringstream text;
  errno = 0;
  std::ifstream file(AclFilePath(config));
  if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  // A read error behind the first block sets a bit of `text` only.
  if (!file.is_open() || file.bad() || text.fail()) {
    return Status::Reply("Error loading ACLs, opening file '" + name + "': " + std::strerror(errno));
  }
  return users.LoadText(text.str(), name);
}

Status SaveAclFile(const Users& users, const Config& config) {
  std::string text;
  for (const std::string& line : users.Lines()) {
    text.append("user ").append(line).append("\n");
  }
  return ReplaceFile(AclFilePath(config), text);
}

void CloseClientsOf(const ClientRegistry& clients, const UserList& users, const Session& caller) {
  if (users.empty()) return;
  for (const auto& session : clients.All()) {
    {
      const MutexLock lock(session->mutex());
      if (std::find(users.begin(), users.end(), session->login.account) == users.end()) continue;
    }
    Close(*session, caller);
  }
}

void CloseSubscribersBeyondRules(PubSub& pubsub, const UserList& users, const Session& caller) {
  pubsub.Visit([&](ClientSession& session, ChannelKind kind, std::string_view name) {
    std::shared_ptr<AclUser> user;
    {
      const MutexLock lock(session.mutex());
      user = session.login.account;
    }
    if (std::find(users.begin(), users.end(), user) == users.end()) return;
    const auto rules = user->rules();
    const std::vector<Selector>& selectors = rules->selectors();
    const bool is_allowed = std::any_of(selectors.begin(), selectors.end(), [&](const Selector& selector) {
      return selector.AllowsChannel(name, kind == ChannelKind::kPattern);
    });
    if (!is_allowed) Close(session, caller);
  });
}

void LogDenial(AccessLog& log, const CommandTable& table, Session& session, DenialReason reason,
               std::string_view object, std::string_view username) {
  AccessLogEntry entry{.reason = reason,
                       .in_multi = session.multi.active,
                       .in_script = session.script.runs,
                       .object = std::string(object),
                       .username = std::string(username),
                       .client = ClientLine(session, table, MonotonicUs())};
  log.Add(std::move(entry), WallMs());
}

}  // namespace cairn
