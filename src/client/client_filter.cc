// SPDX-License-Identifier: BSD-3-Clause
#include "client/client_filter.h"

#include <algorithm>

#include "base/number.h"
#include "client/client_line.h"
#include "resp/errors.h"

namespace cairn {
namespace {

constexpr std::string_view kBadKillId = "ERR client-id should be greater than 0";
constexpr std::string_view kBadListId = "ERR Invalid client ID";
// The letters that Valkey knows, whether or not a client of Cairn can have them.
constexpr std::string_view kKnownFlags = "bcdeirtuxABEIMNOPRSTU";
constexpr std::string_view kKnownCapabilities = "r";

Result<ClientType> ParseType(std::string_view type) {
  if (EqualsIgnoreCase(type, "normal")) return ClientType::kNormal;
  if (EqualsIgnoreCase(type, "pubsub")) return ClientType::kSubscriber;
  for (const std::string_view name : {"master", "primary"}) {
    if (EqualsIgnoreCase(type, name)) return ClientType::kPrimary;
  }
  for (const std::string_view name : {"slave", "replica"}) {
    if (EqualsIgnoreCase(type, name)) return ClientType::kReplica;
  }
  return Status::Error(Code::kReply, "ERR Unknown client type '" + std::string(type) + "'");
}

bool HasAll(std::string_view letters, std::string_view wanted) {
  return wanted.find_first_not_of(letters) == std::string_view::npos;
}

ClientType TypeOf(const Session& session) {
  if (session.is_replica) return ClientType::kReplica;
  return session.is_subscriber() ? ClientType::kSubscriber : ClientType::kNormal;
}

// The address of "127.0.0.1:50000" or "[::1]:50000".
std::string_view IpOf(std::string_view peer) {
  peer = peer.substr(0, peer.rfind(':'));
  if (peer.starts_with('[') && peer.ends_with(']')) peer = peer.substr(1, peer.size() - 2);
  return peer;
}

class FilterParser {
 public:
  FilterParser(Args& args, const FilterContext& context, std::string_view bad_id)
      : args_(args), context_(context), bad_id_(bad_id) {}

  Result<ClientFilter> Parse(ClientFilter filter) {
    while (args_.left() >= 2) {
      if (!ParseOption(filter) && !ParseFacts(filter)) args_.Fail(errors::kSyntax);
      TRY(args_.Check());
    }
    TRY(args_.Done());
    return filter;
  }

 private:
  // The options that have no negation.
  bool ParseOption(ClientFilter& filter) {
    if (args_.Keyword("skipme")) {
      filter.skip_me = args_.Keyword("yes");
      if (!filter.skip_me && !args_.Keyword("no")) args_.Fail(errors::kSyntax);
    } else if (args_.Keyword("maxage")) {
      filter.least_age_s = Seconds("maxage");
    } else if (args_.Keyword("idle")) {
      filter.least_idle_s = Seconds("idle");
    } else {
      return false;
    }
    return true;
  }

  bool ParseFacts(ClientFilter& filter) {
    if (ParseFact(filter.required, "")) return true;
    return ParseFact(filter.excluded, "not-");
  }

  bool ParseFact(ClientFacts& facts, std::string_view prefix) {
    const auto keyword = [&](std::string_view word) { return args_.Keyword(std::string(prefix).append(word)); };
    if (keyword("id")) {
      ParseIds(facts.ids);
    } else if (keyword("type")) {
      ParseTypeInto(facts.type);
    } else if (keyword("user")) {
      ParseUser(facts.user);
    } else if (keyword("flags")) {
      ParseLetters(facts.flags, "flags", kKnownFlags, prefix.empty());
    } else if (keyword("capa")) {
      ParseLetters(facts.capabilities, "capa", kKnownCapabilities, prefix.empty());
    } else if (keyword("db")) {
      ParseDatabase(facts.db, prefix.empty() ? "DB" : "NOT-DB");
    } else {
      return ParseText(facts, keyword);
    }
    return true;
  }

  template <typename Keyword>
  bool ParseText(ClientFacts& facts, const Keyword& keyword) {
    const std::pair<std::string_view, std::optional<std::string>*> texts[] = {
        {"addr", &facts.peer}, {"laddr", &facts.local},       {"ip", &facts.ip},
        {"name", &facts.name}, {"lib-name", &facts.lib_name}, {"lib-ver", &facts.lib_version},
    };
    for (const auto& [name, text] : texts) {
      if (!keyword(name)) continue;
      *text = args_.Bytes();
      return true;
    }
    return false;
  }

  // The first id, and all numbers that follow it.
  void ParseIds(std::vector<uint64_t>& ids) {
    const int64_t least = bad_id_ == kBadKillId ? 1 : INT64_MIN;
    do {
      ids.push_back(static_cast<uint64_t>(args_.IntegerIn(least, INT64_MAX, bad_id_)));
    } while (args_.More() && IsNextId());
  }

  // CLIENT LIST of 7.2 takes all words after ID as ids. A last word cannot be an option with a value, so it is an id.
  bool IsNextId() const { return ParseInt64(args_.Peek()).has_value() || (bad_id_ == kBadListId && args_.left() == 1); }

  void ParseTypeInto(std::optional<ClientType>& type) {
    Result<ClientType> parsed = ParseType(args_.Bytes());
    if (parsed.ok()) {
      type = *parsed;
    } else {
      args_.Fail(parsed.status().text());
    }
  }

  void ParseUser(std::optional<std::string>& user) {
    user = args_.Bytes();
    if (context_.users.Find(*user) == nullptr) args_.Fail("ERR No such user '" + *user + "'");
  }

  void ParseLetters(std::optional<std::string>& letters, std::string_view kind, std::string_view known, bool wanted) {
    letters = args_.Bytes();
    if (HasAll(known, *letters)) return;
    std::string error = "ERR Unknown " + std::string(kind) + " found in the ";
    if (wanted) {
      error.append("provided");
    } else {
      error.append(kind == "flags" ? "NOT-FLAGS" : "NOT-CAPA");
    }
    args_.Fail(error.append(" filter: ").append(*letters));
  }

  void ParseDatabase(std::optional<int64_t>& db, const std::string& name) {
    db = args_.Integer("ERR " + name + " is not an integer or out of range");
    if (*db < 0 || *db >= context_.databases) {
      args_.Fail("ERR " + name + " number should be between 0 and " + std::to_string(context_.databases - 1));
    }
  }

  int64_t Seconds(const std::string& name) {
    const int64_t seconds = args_.Integer("ERR " + name + " is not an integer or out of range");
    if (seconds <= 0) args_.Fail("ERR " + name + " should be greater than 0");
    return seconds;
  }

  Args& args_;
  const FilterContext& context_;
  const std::string_view bad_id_;
};

bool HasText(const std::optional<std::string>& wanted, std::string_view text) {
  return !text.empty() && *wanted == text;
}

// Compares each fact that is named with the client's. `check` gets whether the two are equal.
template <typename Check>
bool CompareFacts(const ClientFacts& facts, Session& session, const Check& check) {
  const MutexLock lock(session.mutex());
  const auto has_id = [&] { return std::find(facts.ids.begin(), facts.ids.end(), session.id()) != facts.ids.end(); };
  return (facts.ids.empty() || check(has_id())) && (!facts.type || check(*facts.type == TypeOf(session))) &&
         (!facts.peer || check(*facts.peer == session.socket.peer)) &&
         (!facts.local || check(*facts.local == session.socket.local)) &&
         (!facts.ip || check(*facts.ip == IpOf(session.socket.peer))) &&
         (!facts.user || check(*facts.user == session.login.user_name())) &&
         (!facts.flags || check(HasAll(ClientFlags(session), *facts.flags))) &&
         (!facts.capabilities || check(HasAll(ClientCapabilities(session), *facts.capabilities))) &&
         (!facts.name || check(HasText(facts.name, session.names.name))) &&
         (!facts.lib_name || check(HasText(facts.lib_name, session.names.lib_name))) &&
         (!facts.lib_version || check(HasText(facts.lib_version, session.names.lib_version))) &&
         (!facts.db || check(*facts.db == session.db));
}

}  // namespace

bool ClientFilter::Matches(Session& session, uint64_t my_id, int64_t now_us) const {
  if (skip_me && session.id() == my_id) return false;
  if ((now_us - session.activity.created_us) / 1000000 < least_age_s) return false;
  if ((now_us - session.activity.last_active_us) / 1000000 < least_idle_s) return false;
  return CompareFacts(required, session, [](bool holds) { return holds; }) &&
         CompareFacts(excluded, session, [](bool holds) { return !holds; });
}

Result<ClientFilter> ParseKillFilter(Args& args, const FilterContext& context) {
  return FilterParser(args, context, kBadKillId).Parse({});
}

Result<ClientFilter> ParseListFilter(Args& args, const FilterContext& context) {
  return FilterParser(args, context, kBadListId).Parse({.skip_me = false});
}

}  // namespace cairn
