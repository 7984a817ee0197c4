// SPDX-License-Identifier: BSD-3-Clause
//
// REPLICAOF, ROLE, WAIT, WAITAOF, and the commands between servers: REPLCONF, PSYNC, SYNC.
#include <algorithm>
#include <string>

#include "base/log.h"
#include "base/number.h"
#include "base/words.h"
#include "client/client_session.h"
#include "command/parts.h"
#include "config/settings.h"
#include "replication/families.h"
#include "replication/replication.h"

namespace cairn {
namespace {

constexpr std::string_view kWaitOnReplica =
    "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured "
    "to be writable (which is not the default) writes to replicas are just local and are not propagated.";
constexpr std::string_view kWaitAofOnReplica =
    "ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are just local and "
    "are not propagated.";
constexpr size_t kLongestAddress = 255;

ClientSession& ClientOf(CommandContext& ctx) { return static_cast<ClientSession&>(ctx.session()); }

// REPLICAOF host port | NO ONE
Status ReplicaOf(const ReplicationParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  Replication& replication = parts.replication;
  TRY(Replication::CheckMayChange(ctx.txn()));
  TRY(replication.CheckNoFailover());
  const std::string_view host = args.Bytes();
  const std::string_view port = args.Bytes();
  if (EqualsIgnoreCase(host, "no") && EqualsIgnoreCase(port, "one")) {
    TRY(replication.Promote());
    reply.Ok();
    return Ok();
  }
  if (ctx.session().is_replica) return Status::Reply("ERR Command is not valid when client is a replica.");
  const auto number = ParseInt64(port);
  if (!number || *number < 0 || *number > 65535) return Status::Reply("ERR Invalid master port");
  const PrimaryAddress primary{std::string(host), static_cast<int>(*number)};
  if (replication.primary() == primary) {
    reply.Simple("OK Already connected to specified master");
    return Ok();
  }
  TRY(replication.SetPrimary(primary));
  reply.Ok();
  return Ok();
}

std::string_view StateName(PrimaryLink::State state) {
  switch (state) {
    case PrimaryLink::State::kNone:
    case PrimaryLink::State::kConnect: return "connect";
    case PrimaryLink::State::kConnecting: return "connecting";
    case PrimaryLink::State::kHandshake: return "handshake";
    case PrimaryLink::State::kSync: return "sync";
    case PrimaryLink::State::kConnected: return "connected";
  }
  return "unknown";
}

// ROLE
Status Role(const ReplicationParts& parts, CommandContext&, Args&, Reply& reply) {
  Replication& replication = parts.replication;
  if (const auto primary = replication.primary()) {
    const bool connected = replication.primary_link().state() == PrimaryLink::State::kConnected;
    reply.Array(5);
    reply.Bulk("slave");
    reply.Bulk(primary->host);
    reply.Integer(primary->port);
    reply.Bulk(StateName(replication.primary_link().state()));
    reply.Integer(connected ? static_cast<int64_t>(replication.log().offset()) : -1);
    return Ok();
  }
  std::vector<std::shared_ptr<Replica>> online;
  for (const auto& replica : replication.replicas().All()) {
    if (replica->state == Replica::State::kOnline) online.push_back(replica);
  }
  reply.Array(3);
  reply.Bulk("master");
  reply.Integer(static_cast<int64_t>(replication.log().OffsetNow()));
  reply.Array(online.size());
  for (const auto& replica : online) {
    reply.Array(3);
    reply.Bulk(replica->ip);
    reply.Bulk(std::to_string(replica->port));
    reply.Bulk(std::to_string(replica->acked));
  }
  return Ok();
}

// FAILOVER [TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]
Status Failover(const ReplicationParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  Replication& replication = parts.replication;
  TRY(Replication::CheckMayChange(ctx.txn()));
  Replication::FailoverWish wish;
  const size_t words = args.left();
  while (args.More()) {
    if (wish.timeout_ms == 0 && args.left() >= 2 && args.Keyword("timeout")) {
      wish.timeout_ms = args.Integer();
      TRY(args.Check());
      if (wish.timeout_ms <= 0) return Status::Reply("ERR FAILOVER timeout must be greater than 0");
    } else if (words == 1 && args.Keyword("abort")) {
      TRY(replication.AbortFailover());
      reply.Ok();
      return Ok();
    } else if (!wish.target && args.left() >= 3 && args.Keyword("to")) {
      const std::string_view host = args.Bytes();
      wish.target = PrimaryAddress{std::string(host), static_cast<int>(args.Integer())};
      TRY(args.Check());
    } else if (!wish.force && args.Keyword("force")) {
      wish.force = true;
    } else {
      return Status::Reply(errors::kSyntax);
    }
  }
  TRY(replication.BeginFailover(wish));
  reply.Ok();
  return Ok();
}

// Sets which parts of the data set the client wants; they are separated by spaces, and an empty string wants none.
Status SetFilter(Replica& replica, std::string_view parts) {
  const auto words = SplitWords(parts);
  if (!words) return Status::Reply("ERR Missing rdb-filter-only values");
  replica.wants_keys = replica.wants_functions = false;
  for (const std::string& word : *words) {
    if (!EqualsIgnoreCase(word, "functions")) {
      return Status::Reply("ERR Unsupported rdb-filter-only option: " + word);
    }
    replica.wants_functions = true;
  }
  return Ok();
}

// Whether a replica of this version reads files of Valkey's dialect. Only Valkey, and Cairn, announce a version.
bool ReadsValkeyRdb(std::string_view version) {
  constexpr int64_t kFirstMajor = 9;
  const auto major = ParseInt64(version.substr(0, version.find('.')));
  return major && *major >= kFirstMajor;
}

// REPLCONF option value [option value ...]
Status ReplConf(const ReplicationParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  if (args.size() % 2 == 0) return Status::Reply(errors::kSyntax);
  Replicas& replicas = parts.replication.replicas();
  ClientSession& client = ClientOf(ctx);
  while (args.More()) {
    const std::string_view option = args.Bytes();
    const std::string_view value = args.Bytes();
    if (EqualsIgnoreCase(option, "listening-port")) {
      const auto port = ParseInt64(value);
      if (!port) return Status::Reply(errors::kNotAnInteger);
      replicas.Of(client)->port = static_cast<int>(*port);
    } else if (EqualsIgnoreCase(option, "ip-address")) {
      if (value.size() > kLongestAddress) {
        return Status::Reply("ERR REPLCONF ip-address provided by replica instance is too long: " +
                             std::to_string(value.size()) + " bytes");
      }
      const auto is_plain = [](char c) { return c > ' ' && c <= '~' && c != ',' && c != '='; };
      if (!std::ranges::all_of(value, is_plain)) {  // it is shown in INFO and as a label of the metrics
        return Status::Reply("ERR REPLCONF ip-address provided by replica instance is not an address");
      }
      // Once the replica's thread runs, other threads read `ip` (Replicas::All).
      if (!client.is_replica) replicas.Of(client)->ip = value;
    } else if (EqualsIgnoreCase(option, "capa")) {
      if (EqualsIgnoreCase(value, "eof")) replicas.Of(client)->takes_marked_file = true;
      if (auto offer = ParseFilesOffer(value); offer && !client.is_replica) replicas.Of(client)->files = offer;
    } else if (EqualsIgnoreCase(option, "version")) {
      replicas.Of(client)->reads_valkey_rdb = ReadsValkeyRdb(value);
    } else if (EqualsIgnoreCase(option, "ack")) {
      const auto offset = ParseUint64(value);
      std::optional<uint64_t> synced;
      if (args.left() >= 2 && args.Keyword("fack")) synced = ParseUint64(args.Bytes());
      if (ctx.session().is_replica && offset) parts.replication.NoteAck(client, *offset, synced.value_or(0));
      return Ok();  // an ACK gets no reply
    } else if (EqualsIgnoreCase(option, "getack")) {
      return Ok();
    } else if (EqualsIgnoreCase(option, "rdb-only")) {
      const auto flag = ParseInt64(value);
      if (!flag) return Status::Reply(errors::kNotAnInteger);
      if (*flag < 0 || *flag > 1) return Status::Reply("ERR value is out of range, value must between 0 and 1");
      replicas.Of(client)->wants_stream = *flag == 0;
    } else if (EqualsIgnoreCase(option, "rdb-filter-only")) {
      TRY(SetFilter(*replicas.Of(client), value));
    } else {
      return Status::Reply("ERR Unrecognized REPLCONF option: " + std::string(option));
    }
  }
  reply.Ok();
  return Ok();
}

Status CheckCanSync(const ReplicationParts& parts, CommandContext&) {
  Replication& replication = parts.replication;
  if (replication.primary() && replication.primary_link().state() != PrimaryLink::State::kConnected) {
    return Status::Reply("NOMASTERLINK Can't SYNC while not connected with my master");
  }
  return Ok();
}

// PSYNC replicationid offset [FAILOVER]: the replica's thread sends the reply.
Status Psync(const ReplicationParts& parts, CommandContext& ctx, Args& args, Reply&) {
  Replication& replication = parts.replication;
  const std::string_view id = args.Bytes();
  const auto next = ParseInt64(args.Bytes());
  if (!next) {
    Log(LogSeverity::kWarning, "Replica {} asks for synchronization but with a wrong offset",
        ClientOf(ctx).socket.peer);
    return Status::Reply(errors::kNotAnInteger);
  }
  if (args.More() && args.Keyword("failover")) {
    if (!replication.primary()) return Status::Reply("ERR PSYNC FAILOVER can't be sent to a master.");
    if (id != replication.log().history().id) {
      return Status::Reply("ERR PSYNC FAILOVER replid must match my replid.");
    }
    TRY(replication.Promote());
  }
  TRY(CheckCanSync(parts, ctx));
  const bool wants_all = id == "?" || *next < 0;
  replication.replicas().Attach(ClientOf(ctx), wants_all ? "" : std::string(id), static_cast<uint64_t>(*next), false);
  return Ok();
}

// SYNC
Status Sync(const ReplicationParts& parts, CommandContext& ctx, Args&, Reply&) {
  TRY(CheckCanSync(parts, ctx));
  parts.replication.replicas().Attach(ClientOf(ctx), "", 0, true);
  return Ok();
}

Result<int64_t> ReadTimeout(std::string_view text) {
  const auto timeout_ms = ParseInt64(text);
  if (!timeout_ms) return Status::Reply("ERR timeout is not an integer or out of range");
  if (*timeout_ms < 0) return Status::Reply("ERR timeout is negative");
  return *timeout_ms;
}

// Whether the client may not block, or its time is over.
bool GivesUp(const Session& session) {
  const BlockedCommand* const blocked = session.blocking.command.get();
  return session.multi.active || session.script.runs || (blocked != nullptr && blocked->timed_out);
}

// WAIT numreplicas timeout
Status Wait(const ReplicationParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  Replication& replication = parts.replication;
  if (replication.primary()) return Status::Reply(kWaitOnReplica);
  const auto wanted = ParseInt64(args.Bytes());
  if (!wanted) return Status::Reply(errors::kNotAnInteger);
  ctx.wait().timeout_ms = TRY(ReadTimeout(args.Bytes()));
  const Replication::Wanted what{.replicas = static_cast<int>(std::min<int64_t>(*wanted, INT32_MAX))};
  const auto count = TRY(replication.CountWaited(ctx.session(), what, GivesUp(ctx.session())));
  if (!count) return Status::MustBlock();
  reply.Integer(*count);
  return Ok();
}

// WAITAOF numlocal numreplicas timeout
Status WaitAof(const ReplicationParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  Replication& replication = parts.replication;
  const auto local = ParseInt64(args.Bytes());
  if (!local) return Status::Reply(errors::kNotAnInteger);
  if (*local < 0 || *local > 1) return Status::Reply("ERR value is out of range, value must between 0 and 1");
  const auto wanted = ParseInt64(args.Bytes());
  if (!wanted || *wanted < 0) return Status::Reply("ERR value is out of range, must be positive");
  ctx.wait().timeout_ms = TRY(ReadTimeout(args.Bytes()));
  if (replication.primary()) return Status::Reply(kWaitAofOnReplica);
  const bool is_first = ctx.session().blocking.command == nullptr;
  StreamLog& log = replication.log();
  if (*local > 0 && is_first) TRY(log.Sync());
  const Replication::Wanted what{.replicas = static_cast<int>(std::min<int64_t>(*wanted, INT32_MAX)), .synced = true};
  const auto count = TRY(replication.CountWaited(ctx.session(), what, GivesUp(ctx.session())));
  if (!count) return Status::MustBlock();
  // Under `always` every own write is on the disk by now; other clients' commits are synced before they are visible.
  const bool always = parts.settings.fsync_policy() == AppendFsync::kAlways;
  reply.Array(2);
  reply.Integer(*local > 0 || (always ? log.Sync().ok() : log.is_synced()));
  reply.Integer(*count);
  return Ok();
}

constexpr std::string_view kReplicaOfSyntax = "<host port:integer | NO ONE>";
constexpr uint64_t kRoleFlags = kAdmin | kNoScript | kStale | kNoAsyncLoading | kSlowLane;
constexpr uint64_t kSyncFlags = kAdmin | kNoScript | kNoAsyncLoading | kNoMulti | kSlowLane;

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "replicaof", .arity = 3, .flags = kRoleFlags, .run = With<ReplicaOf>, .group = Group::kServer,
     .since = "5.0.0", .summary = "Makes the server a replica of another, or a primary.", .complexity = "O(1)",
     .syntax = kReplicaOfSyntax},
    {.name = "slaveof", .arity = 3, .flags = kRoleFlags, .run = With<ReplicaOf>, .group = Group::kServer,
     .since = "1.0.0", .summary = "Makes the server a replica of another, or a primary.", .complexity = "O(1)",
     .syntax = kReplicaOfSyntax, .deprecated_since = "5.0.0", .replaced_by = "`REPLICAOF`"},
    {.name = "failover", .arity = -1, .flags = kAdmin | kNoScript | kStale | kSlowLane, .run = With<Failover>,
     .group = Group::kServer, .since = "6.2.0", .summary = "Makes a replica the primary, and this server its replica.",
     .complexity = "O(1)", .syntax = "[TO host port:integer [FORCE]] [ABORT] [TIMEOUT milliseconds:integer]"},
    {.name = "role", .arity = 1, .flags = kNoScript | kLoading | kStale | kFast | kSlowLane, .run = With<Role>,
     .group = Group::kServer, .since = "2.8.12", .summary = "Returns the server's role in replication.",
     .complexity = "O(1)", .acl = "admin dangerous"},
    {.name = "replconf", .arity = -1, .flags = kAdmin | kNoScript | kLoading | kStale | kAllowBusy,
     .run = With<ReplConf>, .group = Group::kServer, .since = "3.0.0",
     .summary = "Sends a replica's state to its primary.", .complexity = "O(1)"},
    {.name = "psync", .arity = -3, .flags = kSyncFlags, .run = With<Psync>, .group = Group::kServer, .since = "2.8.0",
     .summary = "Makes the client a replica, from an offset of the stream on.",
     .complexity = "O(N) with N the bytes sent", .syntax = "replicationid offset:integer"},
    {.name = "sync", .arity = 1, .flags = kSyncFlags, .run = With<Sync>, .group = Group::kServer, .since = "1.0.0",
     .summary = "Makes the client a replica of an old version.", .complexity = "O(N) with N the bytes sent"},
    {.name = "wait", .arity = 3, .flags = kSlowLane | kAnswersTimeout, .run = With<Wait>, .group = Group::kGeneric,
     .since = "3.0.0", .summary = "Waits until replicas have acknowledged all writes of the client.",
     .complexity = "O(1)", .syntax = "numreplicas:integer timeout:integer", .acl = "-keyspace connection",
     .tips = "request_policy:all_shards response_policy:agg_min"},
    {.name = "waitaof", .arity = 4, .flags = kNoScript | kBlocking | kSlowLane | kAnswersTimeout, .run = With<WaitAof>,
     .group = Group::kGeneric, .since = "7.2.0",
     .summary = "Waits until all writes of the client are synced to the disks of this server and of replicas.",
     .complexity = "O(1)", .syntax = "numlocal:integer numreplicas:integer timeout:integer",
     .acl = "-keyspace connection", .tips = "request_policy:all_shards response_policy:agg_min"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> ReplicationCommands() { return kRows; }

}  // namespace cairn
