// SPDX-License-Identifier: BSD-3-Clause
#include "client/client_filter.h"

#include <algorithm>

#include "acl/users.h"
#include "base/number.h"
#include "resp/errors.h"

namespace cairn {
namespace {

constexpr std::string_view kBadKillId = "ERR client-id should be greater than 0";
constexpr std::string_view kBadListId = "ERR Invalid client ID";

Result<ClientFilter::Type> ParseType(std::string_view type) {
  if (EqualsIgnoreCase(type, "normal")) return ClientFilter::Type::kNormal;
  if (EqualsIgnoreCase(type, "pubsub")) return ClientFilter::Type::kSubscriber;
  if (EqualsIgnoreCase(type, "master")) return ClientFilter::Type::kPrimary;
  for (const std::string_view other : {"slave", "replica"}) {
    if (EqualsIgnoreCase(type, other)) return ClientFilter::Type::kReplica;
  }
  return Status::Error(Code::kReply, "ERR Unknown client type '" + std::string(type) + "'");
}

Status ParseKillOption(Args& args, const Users& users, ClientFilter& filter) {
  if (args.Keyword("id")) {
    filter.ids = {static_cast<uint64_t>(args.IntegerIn(1, INT64_MAX, kBadKillId))};
  } else if (args.Keyword("type")) {
    filter.type = TRY(ParseType(args.Bytes()));
  } else if (args.Keyword("addr")) {
    filter.peer = args.Bytes();
  } else if (args.Keyword("laddr")) {
    filter.local = args.Bytes();
  } else if (args.Keyword("user")) {
    filter.user = args.Bytes();
    if (users.Find(*filter.user) == nullptr)
      return Status::Error(Code::kReply, "ERR No such user '" + *filter.user + "'");
  } else if (args.Keyword("skipme")) {
    filter.skip_me = args.Keyword("yes");
    if (!filter.skip_me && !args.Keyword("no")) args.Fail(errors::kSyntax);
  } else {
    args.Fail(errors::kSyntax);
  }
  return args.Check();
}

}  // namespace

bool ClientFilter::Matches(Session& session, uint64_t my_id) const {
  if (!ids.empty() && std::find(ids.begin(), ids.end(), session.id()) == ids.end()) return false;
  const Type own = session.is_replica ? Type::kReplica : session.is_subscriber() ? Type::kSubscriber : Type::kNormal;
  if (type && *type != own) return false;
  if (skip_me && session.id() == my_id) return false;
  const MutexLock lock(session.mutex());
  return (!peer || *peer == session.socket.peer) && (!local || *local == session.socket.local) &&
         (!user || *user == session.login.user_name());
}

Result<ClientFilter> ParseKillFilter(Args& args, const Users& users) {
  ClientFilter filter;
  while (args.left() >= 2) TRY(ParseKillOption(args, users, filter));
  TRY(args.Done());
  return filter;
}

Result<ClientFilter> ParseListFilter(Args& args) {
  ClientFilter filter{.skip_me = false};
  if (args.left() == 2 && args.Keyword("type")) {
    filter.type = TRY(ParseType(args.Bytes()));
  } else if (args.left() >= 2 && args.Keyword("id")) {
    while (args.More()) filter.ids.push_back(static_cast<uint64_t>(args.Integer(kBadListId)));
  }
  TRY(args.Done());
  return filter;
}

}  // namespace cairn
