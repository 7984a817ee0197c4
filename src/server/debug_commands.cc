// SPDX-License-Identifier: BSD-3-Clause
//
// DEBUG: the subcommands that test suites of Redis and of clients use. They have a table of their own, because DEBUG is
// one command in Redis; all run on the slow lane.
#include <fmt/format.h>
#include <time.h>

#include <cstdlib>

#include "acl/users.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/number.h"
#include "cluster/cluster.h"
#include "cluster/node_commands.h"
#include "command/help.h"
#include "command/parts.h"
#include "config/allowed.h"
#include "config/config.h"
#include "config/config_file.h"
#include "replication/rdb_saves.h"
#include "replication/reload.h"
#include "replication/replication.h"
#include "replication/saving.h"
#include "script/scripting.h"
#include "server/families.h"
#include "stats/server_state.h"
#include "storage/store.h"
#include "types/string.h"
#include "types/value_types.h"

namespace cairn {
namespace {

constexpr std::string_view kNotAllowed =
    "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you "
    "can run it from a local connection, otherwise you need to set this option in the "
    "configuration file, and then restart the server.";

// DEBUG SLEEP seconds: only the calling client sleeps.
Status Sleep(CommandContext&, Args& args, Reply& reply) {
  constexpr double kLongestS = 1e9;
  const double seconds = std::min(std::strtod(std::string(args.Bytes()).c_str(), nullptr), kLongestS);
  if (seconds > 0) {  // not for NaN
    const auto us = static_cast<int64_t>(seconds * 1e6);
    const timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, nullptr);
  }
  reply.Ok();
  return Ok();
}

// Stores one string if the key does not exist. Commits after some rows, so that no key stays locked for long.
Status PutNewText(Transaction& txn, Keyspace& keys, const Key& key, std::string_view text) {
  constexpr size_t kCommitRows = 1024;
  constexpr size_t kCommitBytes = 1 << 20;
  const uint32_t stripes[] = {key.stripe()};
  txn.BeginCommand(Lane::kSlow, WallMs(), false);
  Status locked = txn.Lock(stripes);
  if (locked.Is(Code::kWouldWait)) {
    TRY(txn.Commit(CommitMode::kWait));
    txn.BeginCommand(Lane::kSlow, WallMs(), false);
    locked = txn.Lock(stripes);
  }
  TRY(std::move(locked));
  const KeyEntry entry = TRY(keys.Find(key));
  if (!entry.exists()) TRY(WriteText(keys, key, entry, text, kNoExpiry));
  TRY(txn.FinishCommand());
  const bool is_large = txn.batch().rows() > kCommitRows || txn.batch().bytes() > kCommitBytes;
  return is_large ? txn.Commit(CommitMode::kWait) : Ok();
}

// DEBUG POPULATE count [prefix [size]]: not replicated, as in Redis.
Status Populate(CommandContext& ctx, Args& args, Reply& reply) {
  const int64_t count = args.IntegerIn(0, INT64_MAX, errors::kNotPositive);
  const std::string prefix(args.More() ? args.Bytes() : "key");
  const int64_t size = args.More() ? args.IntegerIn(0, INT32_MAX, errors::kNotPositive) : 0;
  TRY(args.Done());
  // The locks of EXEC would block the transaction below.
  if (!ctx.txn().stripes().empty()) {
    return Status::Reply("ERR DEBUG POPULATE is not allowed in a transaction that uses keys");
  }
  const std::unique_ptr<Transaction> txn = std::make_unique<Transaction>(ctx.txn().store());
  Keyspace keys(*txn, ctx.keys().db(), ctx.limits());
  for (int64_t i = 0; i < count; ++i) {
    const std::string number = ":" + std::to_string(i);
    std::string text = "value" + number;
    if (size > 0) text.resize(static_cast<size_t>(size));
    TRY(PutNewText(*txn, keys, keys.Name(prefix + number), text));
  }
  TRY(txn->Commit(CommitMode::kWait));
  reply.Ok();
  return Ok();
}

// DEBUG SET-ACTIVE-EXPIRE 0 | 1
Status SetActiveExpire(const DebugParts& parts, CommandContext&, Args& args, Reply& reply) {
  parts.switches.active_expire = std::atoi(std::string(args.Bytes()).c_str()) != 0;
  reply.Ok();
  return Ok();
}

// DEBUG CONFIG-REWRITE-FORCE-ALL
Status RewriteAll(const DebugParts& parts, CommandContext&, Args&, Reply& reply) {
  TRY(RewriteConfig(parts.config, parts.users, parts.config_file, RewriteScope::kAll));
  reply.Ok();
  return Ok();
}

// DEBUG PAUSE-CRON 0 | 1
Status PauseCron(const DebugParts& parts, CommandContext&, Args& args, Reply& reply) {
  parts.switches.ticks = std::atoi(std::string(args.Bytes()).c_str()) == 0;
  reply.Ok();
  return Ok();
}

// DEBUG REPLYBUFFER RESIZING 0 | 1: accepted without effect, because no timer resizes reply buffers here.
Status ReplyBuffer(CommandContext&, Args& args, Reply& reply) {
  if (!args.Keyword("resizing")) return Status::Error(Code::kReply, errors::BadSubcommand("REPLYBUFFER", "DEBUG"));
  reply.Ok();
  return Ok();
}

// DEBUG SET-DISABLE-DENY-SCRIPTS 0 | 1
Status SetDisableDenyScripts(const DebugParts& parts, CommandContext&, Args& args, Reply& reply) {
  parts.scripting.set_allows_any_command(std::atoi(std::string(args.Bytes()).c_str()) != 0);
  reply.Ok();
  return Ok();
}

Status SetSkipChecksums(const DebugParts& parts, CommandContext&, Args& args, Reply& reply) {
  parts.config.limits().skips_payload_checksums = std::atoi(std::string(args.Bytes()).c_str()) != 0;
  reply.Ok();
  return Ok();
}

// Flushes everything and drops the caches, so that the next reads come from the disk.
Status ReadAnew(const DebugParts& parts, CommandContext& ctx, Reply& reply) {
  TRY(SaveEverything(ctx.txn().store(), parts.saves));
  ctx.txn().store().cache().EraseAll();
  reply.Ok();
  return Ok();
}

// DEBUG RELOAD [MERGE] [NOFLUSH] [NOSAVE]
Status Reload(const DebugParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  bool merges = false;
  bool saves = true;
  RestorePolicy functions = RestorePolicy::kAppend;
  while (args.More()) {
    if (args.Keyword("merge")) {
      merges = true;
      functions = RestorePolicy::kReplace;
    } else if (args.Keyword("noflush")) {
      merges = true;
    } else if (args.Keyword("nosave")) {
      saves = false;
    } else {
      return Status::Reply("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.");
    }
  }
  // Within a MULTI, whose changes are in no file yet, and on a replica, whose stream goes on meanwhile.
  if (!ctx.txn().stripes().empty() || parts.replication.primary()) return ReadAnew(parts, ctx, reply);
  if (saves && merges) TRY(parts.rdb_saves.Save());
  const bool log_is_read = parts.replication.log().logs();
  const RdbFileLoad load{parts.rdb_saves.Path(), merges, functions, log_is_read};
  const Status done =
      saves && !merges ? SaveAndReload(parts.dataset, parts.rdb_saves, log_is_read) : LoadRdbFile(parts.dataset, load);
  // The command itself has replaced the databases, or has failed on the way: the change must not make it run again.
  ctx.txn().BeginCommand(Lane::kSlow, ctx.now_ms(), false);
  if (!done.ok()) {
    Log(LogSeverity::kWarning, "DEBUG RELOAD: {}", done.text());
    return Status::Reply("ERR Error trying to load the RDB dump, check server logs.");
  }
  reply.Ok();
  return Ok();
}

// DEBUG LOADAOF
Status LoadAof(const DebugParts& parts, CommandContext& ctx, Args&, Reply& reply) {
  return ReadAnew(parts, ctx, reply);
}

// DEBUG OBJECT key. It also shows an expired key that has not been deleted yet, as in Redis, and leaves it alone.
Status Object(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const RowRef row = TRY(ctx.txn().Get(key.row(), Access::kPeek));
  if (!row) return Status::Reply(errors::kNoSuchKey);
  const KeyEntry entry = TRY(keys.EntryOf(TRY(DecodeRecord(row.bytes()))));
  const int64_t idle_s = ctx.txn().uses().IdleSeconds(key.row(), ctx.txn().command().now_s());
  const ValueType& type = ValueTypeOf(entry);
  // Values have no address here. Each key gets a fixed number instead, because tests compare addresses.
  reply.Simple(fmt::format("Value at:0x{:x} refcount:{} encoding:{} serializedlength:{} lru:{} lru_seconds_idle:{}",
                           Hash64(key.row().tagged()) >> 16, TRY(type.references(entry)), type.encoding_name(entry),
                           TRY(type.size(entry)), (WallMs() / 1000 - idle_s) % (1 << 24), idle_s));
  return Ok();
}

// DEBUG DIGEST
Status DatasetDigest(CommandContext& ctx, Args&, Reply& reply) {
  const Digest digest = TRY(DigestOfDataset(ctx.txn(), ctx.txn().store().databases().size(), ctx.limits()));
  reply.Simple(digest.Hex());
  return Ok();
}

// DEBUG REPLICATE command [argument ...]
Status Replicate(const DebugParts& parts, CommandContext&, Args& args, Reply& reply) {
  TRY(parts.replication.log().LogCommand(args.all().subspan(args.position())));
  reply.Ok();
  return Ok();
}

// DEBUG DIGEST-VALUE [key ...]
Status DigestValue(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  reply.Array(args.left());
  while (args.More()) {
    const Key key = keys.Name(args.Bytes());
    KeyEntry entry = TRY(keys.Find(key, Access::kPeek));
    Digest digest;
    if (entry.exists()) TRY(AddValue(digest, keys, key, std::move(entry)));
    reply.Simple(digest.Hex());
  }
  return Ok();
}

// DEBUG QUICKLIST-PACKED-THRESHOLD size: no collection above this many bytes stays packed, until 0 restores the
// configured limits. Redis's suite uses it for the same purpose, to convert small lists to their large encoding.
Status PackedThreshold(const DebugParts& parts, CommandContext&, Args& args, Reply& reply) {
  constexpr uint64_t kTooLarge = 4ull << 30;
  const auto bytes = ParseMemory(args.Bytes());
  if (!bytes || *bytes >= kTooLarge) {
    return Status::Reply("ERR argument must be a memory value bigger than 1 and smaller than 4gb");
  }
  parts.config.limits().packed_max_bytes =
      *bytes == 0 ? parts.config.Number("packed-max-bytes") : static_cast<int64_t>(*bytes);
  reply.Ok();
  return Ok();
}

// DEBUG CHANGE-REPL-ID
Status ChangeReplicationId(const DebugParts& parts, CommandContext& ctx, Args&, Reply& reply) {
  TRY(Replication::CheckMayChange(ctx.txn()));
  TRY(parts.replication.Fork());
  reply.Ok();
  return Ok();
}

// DEBUG CLUSTERLINK KILL <TO | FROM | ALL> node-id
Status ClusterLink(const DebugParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  if (parts.cluster == nullptr) return Status::Reply("ERR Debug option only available for cluster mode enabled setup!");
  if (!args.Keyword("kill")) return Status::Reply(errors::kSyntax);
  LinkEnds ends = LinkEnds::kBoth;
  if (args.Keyword("to")) ends = LinkEnds::kOutgoing;
  else if (args.Keyword("from")) ends = LinkEnds::kIncoming;
  else if (!args.Keyword("all")) return Status::Reply(errors::kSyntax);
  const std::string_view text = args.Bytes();
  const auto id = NodeId::Parse(text);
  const bool is_known =
      id && parts.cluster->With([&](const Topology& topology) { return topology.Find(*id) != nullptr; });
  if (!is_known) return Status::Reply(fmt::format("ERR Unknown node {}", text));
  TRY(CheckMayChange(ctx));
  parts.cluster->bus().CloseLinks(*id, ends);
  reply.Ok();
  return Ok();
}

// DEBUG DROP-CLUSTER-PACKET-FILTER type
Status DropBusMessages(const DebugParts& parts, CommandContext&, Args& args, Reply& reply) {
  const int64_t type = args.IntegerIn(-1, kMessageTypeCount - 1, errors::kNotAnInteger);
  TRY(args.Done());
  if (parts.cluster != nullptr) parts.cluster->bus().set_dropped_type(static_cast<int>(type));
  reply.Ok();
  return Ok();
}

// DEBUG LOG message
Status LogMessage(CommandContext&, Args& args, Reply& reply) {
  Log(LogSeverity::kWarning, "DEBUG LOG: {}", args.Bytes());
  reply.Ok();
  return Ok();
}

// DEBUG ERROR text
Status ErrorReply(CommandContext&, Args& args, Reply&) { return Status::Reply(args.Bytes()); }

void ReplyAttribute(Reply& reply) {
  if (reply.protocol() == 3) reply.Raw("|1\r\n$14\r\nkey-popularity\r\n*2\r\n$7\r\nkey:123\r\n:90\r\n");
  reply.Bulk("Some real reply following the attribute");
}

void ReplyThree(Reply& reply, bool as_set) {
  as_set ? reply.Set(3) : reply.Array(3);
  for (int i = 0; i < 3; ++i) reply.Integer(i);
}

void ReplyMap(Reply& reply) {
  reply.Map(3);
  for (int i = 0; i < 3; ++i) {
    reply.Integer(i);
    reply.Bool(i == 1);
  }
}

Status ReplyPush(Reply& reply) {
  if (reply.protocol() == 2) return Status::Reply("ERR RESP2 is not supported by this command");
  reply.Push(2);
  reply.Bulk("server-cpu-usage");
  reply.Integer(42);
  reply.Bulk("Some real reply following the push reply");
  return Ok();
}

// DEBUG PROTOCOL type: replies with a value of that type, the same as Redis's.
Status Protocol(CommandContext&, Args& args, Reply& reply) {
  const std::string_view type = args.Bytes();
  const auto is = [type](std::string_view name) { return EqualsIgnoreCase(type, name); };
  if (is("string")) reply.Bulk("Hello World");
  else if (is("integer")) reply.Integer(12345);
  else if (is("double")) reply.Double(3.141);
  else if (is("null")) reply.Null();
  else if (is("array")) ReplyThree(reply, false);
  else if (is("set")) ReplyThree(reply, true);
  else if (is("map")) ReplyMap(reply);
  else if (is("attrib")) ReplyAttribute(reply);
  else if (is("push")) return ReplyPush(reply);
  else if (is("true")) reply.Bool(true);
  else if (is("false")) reply.Bool(false);
  else if (is("verbatim")) reply.Verbatim("txt", "This is a verbatim\nstring");
  else if (is("bignum")) reply.BigNumber("1234567999999999999999999999999999999");
  else
    return Status::Reply(
        "ERR Wrong protocol type name. Please use one of the following: string|integer|double|"
        "bignum|null|array|set|map|attrib|push|verbatim|true|false");
  return Ok();
}

constexpr std::string_view kHelp[] = {
    "CHANGE-REPL-ID",
    "    Draw a new replication id.",
    "CLUSTERLINK KILL <TO | FROM | ALL> <node-id>",
    "    Close the links of the cluster bus to a node, from it, or both.",
    "CONFIG-REWRITE-FORCE-ALL",
    "    Run CONFIG REWRITE with all directives, including defaults.",
    "DIGEST",
    "    Show a digest of all data, the same as Redis's for the same data.",
    "DIGEST-VALUE <key> [<key> ...]",
    "    Show digests of values.",
    "DROP-CLUSTER-PACKET-FILTER <type>",
    "    Drop the messages of the cluster bus of this type that arrive; -1 drops none.",
    "ERROR <string>",
    "    Reply this error.",
    "LOADAOF",
    "    Flush everything, drop the caches and read the data from the disk.",
    "LOG <message>",
    "    Write a line to the log.",
    "OBJECT <key>",
    "    Show how a value is stored.",
    "PAUSE-CRON <0 | 1>",
    "    Pause periodic work: deleting expired keys, sampling rates.",
    "POPULATE <count> [<prefix>] [<size>]",
    "    Create keys <prefix>:0, <prefix>:1 ... unless they exist. Not replicated.",
    "PROTOCOL <type>",
    "    Reply a value of this type: string, integer, double, bignum, null, array, set, map,",
    "    attrib, push, verbatim, true, false.",
    "QUICKLIST-PACKED-THRESHOLD <size>",
    "    Pack no collection of more than this many bytes; 0 restores the configured limits.",
    "RELOAD [NOSAVE] [NOFLUSH] [MERGE]",
    "    Save everything to the RDB file and load it from there.",
    "REPLICATE <command> [<argument> ...]",
    "    Send replicas a command without running it here.",
    "REPLYBUFFER RESIZING <0 | 1>",
    "    Accepted without effect: no timer resizes reply buffers.",
    "SET-ACTIVE-EXPIRE <0 | 1>",
    "    Set whether expired keys are deleted before a client accesses them.",
    "SET-DISABLE-DENY-SCRIPTS <0 | 1>",
    "    Set whether scripts may call commands with the flag noscript.",
    "SET-SKIP-CHECKSUM-VALIDATION <0 | 1>",
    "    Set whether RESTORE accepts payloads with a wrong checksum.",
    "SLEEP <seconds>",
    "    Block this client for a time.",
};

struct Subcommand {
  std::string_view name;
  size_t least;  // number of arguments after the subcommand's name
  size_t most;
  RunFunction run;
};

constexpr size_t kAny = SIZE_MAX;

constexpr Subcommand kSubcommandTable[] = {
    {"change-repl-id", 0, 0, With<ChangeReplicationId>},
    {"clusterlink", 3, 3, With<ClusterLink>},
    {"config-rewrite-force-all", 0, 0, With<RewriteAll>},
    {"digest", 0, 0, DatasetDigest},
    {"digest-value", 0, kAny, DigestValue},
    {"drop-cluster-packet-filter", 1, 1, With<DropBusMessages>},
    {"error", 1, 1, ErrorReply},
    {"help", 0, 0, Help<kHelp>},
    {"loadaof", 0, kAny, With<LoadAof>},
    {"log", 1, 1, LogMessage},
    {"object", 1, 1, Object},
    {"pause-cron", 1, 1, With<PauseCron>},
    {"populate", 1, 3, Populate},
    {"protocol", 1, 1, Protocol},
    {"quicklist-packed-threshold", 1, 1, With<PackedThreshold>},
    {"reload", 0, kAny, With<Reload>},
    {"replicate", 1, kAny, With<Replicate>},
    {"replybuffer", 2, 2, ReplyBuffer},
    {"set-active-expire", 1, 1, With<SetActiveExpire>},
    {"set-disable-deny-scripts", 1, 1, With<SetDisableDenyScripts>},
    {"set-skip-checksum-validation", 1, 1, With<SetSkipChecksums>},
    {"sleep", 1, 1, Sleep},
};

// DEBUG subcommand [argument ...]
Status Debug(const DebugParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  if (!IsAllowed(parts.config.settings().enable_debug_command, ctx.session())) return Status::Reply(kNotAllowed);
  const std::string_view name = args.Bytes();
  for (const Subcommand& subcommand : kSubcommandTable) {
    const bool fits = args.left() >= subcommand.least && args.left() <= subcommand.most;
    if (fits && EqualsIgnoreCase(name, subcommand.name)) return subcommand.run(ctx, args, reply);
  }
  return Status::Error(Code::kReply, errors::BadSubcommand(name, "DEBUG"));
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "debug", .arity = -2, .flags = kAdmin | kNoScript | kLoading | kStale | kSlowLane, .run = With<Debug>,
     .group = Group::kServer, .since = "1.0.0", .summary = "Commands for tests and debugging.",
     .complexity = "Depends on the subcommand.", .syntax = "subcommand [argument [argument ...]]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> DebugCommands() { return kRows; }

}  // namespace cairn
