// SPDX-License-Identifier: BSD-3-Clause
//
// MIGRATE: moves keys to another server, by RESTORE there and DEL here.
//
// It runs on the slow lane, where it may wait for the other server, and holds the locks of its keys until it ends. So
// it runs once (kRunsOnce), no client changes a value during the move, and a key is deleted here as soon as the target
// has it. Each call opens a connection, with TLS if the cluster bus uses it (tls-cluster), as in Redis. When the target
// is this server itself, RESTORE waits for the lock and MIGRATE ends with its timeout, as in Redis.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/parts.h"
#include "config/settings.h"
#include "rdb/dump_payload.h"
#include "rdb/rdb_writer.h"
#include "replication/blocking_socket.h"
#include "replication/families.h"
#include "types/rdb_value.h"

namespace cairn {
namespace {

constexpr std::string_view kKeyAndKeys =
    "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string";
constexpr std::string_view kNoConnection = "IOERR error or timeout connecting to the client";
constexpr std::string_view kNotWritten = "IOERR error or timeout writing to target instance";
constexpr std::string_view kNotRead = "IOERR error or timeout reading to target instance";
constexpr int64_t kDefaultTimeoutMs = 1000;
constexpr size_t kKeyPosition = 3;
constexpr size_t kFirstOption = 6;

struct MigrateOptions {
  bool copy = false;
  bool replace = false;
  std::optional<std::string_view> user;
  std::optional<std::string_view> password;
  int64_t database = 0;
  int64_t timeout_ms = 0;
  std::vector<std::string_view> keys;
};

// The index of the first key after the option KEYS; 0 without that option.
size_t FindKeysOption(std::span<const std::string_view> argv) {
  for (size_t i = kFirstOption; i < argv.size(); ++i) {
    if (EqualsIgnoreCase(argv[i], "auth")) {
      ++i;
    } else if (EqualsIgnoreCase(argv[i], "auth2")) {
      i += 2;
    } else if (EqualsIgnoreCase(argv[i], "keys")) {
      return i + 1;
    }
  }
  return 0;
}

// Finds MIGRATE's keys, for the locks and the ACL rules: the keys after KEYS if the key argument is empty.
bool FindMigrateKeys(std::span<const std::string_view> argv, std::vector<KeyUse>& uses) {
  constexpr uint16_t kFlags = kRW | kAccess | kDelete;
  if (argv.size() < kFirstOption) return false;
  const size_t first = FindKeysOption(argv);
  if (first != 0 && !argv[kKeyPosition].empty()) return false;
  if (first == 0) {
    uses.push_back({static_cast<uint32_t>(kKeyPosition), kFlags});
    return true;
  }
  for (size_t i = first; i < argv.size(); ++i) uses.push_back({static_cast<uint32_t>(i), kFlags});
  return true;
}

Result<MigrateOptions> ParseMigrate(Args& args) {
  MigrateOptions options;
  args.Skip(kFirstOption - 1);
  options.keys.push_back(args[kKeyPosition]);
  while (args.More()) {
    if (args.Keyword("copy")) {
      options.copy = true;
    } else if (args.Keyword("replace")) {
      options.replace = true;
    } else if (args.Keyword("auth")) {
      options.password = args.Bytes();
    } else if (args.Keyword("auth2")) {
      options.user = args.Bytes();
      options.password = args.Bytes();
    } else if (args.Keyword("keys")) {
      if (!args[kKeyPosition].empty()) return Status::Reply(kKeyAndKeys);
      options.keys.clear();
      while (args.More()) options.keys.push_back(args.Bytes());
    } else {
      args.Fail(errors::kSyntax);
    }
  }
  TRY(args.Done());
  const auto timeout = ParseInt64(args[5]);
  const auto database = ParseInt64(args[4]);
  if (!timeout || !database) return Status::Reply(errors::kNotAnInteger);
  options.timeout_ms = *timeout <= 0 ? kDefaultTimeoutMs : *timeout;
  options.database = *database;
  return options;
}

void AppendRequest(std::string& out, std::initializer_list<std::string_view> words) {
  out += '*';
  AppendInt64(out, static_cast<int64_t>(words.size()));
  out += "\r\n";
  for (const std::string_view word : words) {
    out += '$';
    AppendInt64(out, static_cast<int64_t>(word.size()));
    out += "\r\n";
    out += word;
    out += "\r\n";
  }
}

// Appends a RESTORE of an existing key.
Status AppendRestore(Keyspace& keys, const Key& key, KeyEntry entry, bool replace, std::string_view command,
                     std::string& out) {
  std::string payload;
  RdbWriter writer(payload);
  const int64_t expire_ms = entry.expire_ms();
  TRY(SaveRdbValue(keys, key, std::move(entry), writer));
  AppendDumpFooter(payload);
  std::string ttl;
  AppendInt64(ttl, expire_ms == kNoExpiry ? 0 : std::max<int64_t>(expire_ms - keys.now_ms(), 1));
  if (replace) {
    AppendRequest(out, {command, key.bytes(), ttl, payload, "REPLACE"});
  } else {
    AppendRequest(out, {command, key.bytes(), ttl, payload});
  }
  return Ok();
}

// Appends the requests before the keys; returns the number of their replies.
size_t AppendGreeting(const MigrateOptions& options, std::string& out) {
  std::string database;
  AppendInt64(database, options.database);
  if (options.user) {
    AppendRequest(out, {"AUTH", *options.user, *options.password});
  } else if (options.password) {
    AppendRequest(out, {"AUTH", *options.password});
  }
  AppendRequest(out, {"SELECT", database});
  return options.password ? 2 : 1;
}

// No server listens at the port. Redis notices this when it writes, and answers accordingly.
bool WasRefused(const Status& connected) { return connected.text().ends_with(std::strerror(ECONNREFUSED)); }

// Reads the replies and deletes each key that the target restored. Returns the client's error, or an empty string.
Result<std::string> ReadReplies(CommandContext& ctx, const MigrateOptions& options, BlockingSocket& target,
                                size_t greetings, const std::vector<Key>& sent) {
  Keyspace keys = ctx.keys();
  std::vector<std::string_view> deletion = {"DEL"};
  std::string error;
  bool greeted = true;
  for (size_t i = 0; i < greetings + sent.size(); ++i) {
    const Result<std::string> line = target.ReadLine(options.timeout_ms);
    if (!line.ok()) {
      if (error.empty()) error = kNotRead;
      break;
    }
    const bool refused = line->starts_with('-');
    if (refused && error.empty()) error = "ERR Target instance replied with error: " + line->substr(1);
    if (i < greetings) {
      greeted = greeted && !refused;
    } else if (greeted && !refused && !options.copy) {
      const Key& key = sent[i - greetings];
      TRY(keys.Remove(key, TRY(keys.Find(key, Access::kPeek))));
      ctx.Changed(kGenericEvent, "del", key.bytes());
      deletion.push_back(key.bytes());
    }
  }
  if (deletion.size() > 1) ctx.Replicate(deletion);
  return error;
}

// MIGRATE host port key | "" destination-db timeout [COPY] [REPLACE] [AUTH password | AUTH2 username password]
//     [KEYS key [key ...]]
Status Migrate(const ReplicationParts& parts, CommandContext& ctx, Args& args, Reply& reply) {
  // A node of a cluster may restore a key before it owns the slot.
  const std::string_view restore = parts.settings.cluster_enabled ? "RESTORE-ASKING" : "RESTORE";
  const MigrateOptions options = TRY(ParseMigrate(args));
  Keyspace keys = ctx.keys();
  std::string request;
  const size_t greetings = AppendGreeting(options, request);
  std::vector<Key> sent;
  for (const std::string_view name : options.keys) {
    const Key key = keys.Name(name);
    KeyEntry entry = TRY(keys.Find(key));
    if (!entry.exists()) continue;
    TRY(AppendRestore(keys, key, std::move(entry), options.replace, restore, request));
    sent.push_back(key);
  }
  if (sent.empty()) {
    reply.Simple("NOKEY");
    return Ok();
  }
  BlockingSocket target;
  const auto port = static_cast<int>(ParseInt64(args[2]).value_or(0));
  const Status connected = target.Connect(std::string(args[1]), port, options.timeout_ms, "", parts.migrate_tls);
  if (!connected.ok()) return Status::Reply(WasRefused(connected) ? kNotWritten : kNoConnection);
  if (!target.Send(request, options.timeout_ms).ok()) return Status::Reply(kNotWritten);
  const std::string error = TRY(ReadReplies(ctx, options, target, greetings, sent));
  if (error.empty()) {
    reply.Ok();
  } else {
    reply.Error(error);  // the keys that the target restored stay deleted
  }
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "migrate", .arity = -6, .flags = kWrite | kSlowLane | kRunsOnce,
     .keys = {OneKey(kRW | kAccess | kDelete, kKeyPosition),
              {.flags = kRW | kAccess | kDelete | kIncomplete, .begin = -2, .keyword = "KEYS", .last = -1}},
     .run = With<Migrate>, .since = "2.6.0", .summary = "Moves keys to another server.",
     .complexity = "O(N) with N the size of the values",
     .syntax = "host port:integer key destination-db:integer timeout:integer [COPY] [REPLACE] "
               "[AUTH password | AUTH2 username password] [KEYS key [...]]",
     .acl = "dangerous", .tips = "nondeterministic_output", .find_keys = FindMigrateKeys},
};
// clang-format on

}  // namespace

std::span<const CommandRow> MigrateCommands() { return kRows; }

}  // namespace cairn
