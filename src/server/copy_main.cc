// SPDX-License-Identifier: BSD-3-Clause
//
// cairn-copy: copies the keys of a server that speaks Redis's protocol to another one, over the wire. For servers that
// Cairn cannot replicate from and that write no RDB files.
#include <fmt/format.h>
#include <gflags/gflags.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <thread>

#include "replication/history.h"
#include "replication/key_copy.h"
#include "replication/redis_client.h"
#include "server/client_flags.h"
#include "server/offline.h"
#include "server/progress_bar.h"
#include "server/tool_flags.h"

DEFINE_int64(database, 0, "the database that is read");
DEFINE_int64(into_database, 0, "the database that is written");
DEFINE_string(match, "", "copy only keys that match this pattern of SCAN");
DEFINE_bool(dump, true, "use DUMP and RESTORE where both servers can");
DEFINE_string(user, "", "the user of the first server; its password is in CAIRN_COPY_FROM_PASSWORD");
DEFINE_string(into_user, "", "the user of the second server; its password is in CAIRN_COPY_INTO_PASSWORD");
DEFINE_bool(tls, false, "connect to the first server with TLS");
DEFINE_bool(into_tls, false, "connect to the second server with TLS");

namespace {

using namespace cairn;

constexpr char kProgram[] = "cairn-copy";
constexpr std::string_view kProbeLifeMs = "60000";
constexpr std::chrono::milliseconds kProbeWait{1000};  // a replica is behind

std::string FromEnvironment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Empty if the server refuses INFO.
FieldsByName ReadInfo(RedisClient& server) {
  const Result<RemoteReply> info = server.Call({"INFO"});
  return info.ok() ? ParseInfo(info->text) : FieldsByName();
}

// Empty if the field is missing.
std::string_view FindField(const FieldsByName& info, std::string_view name) {
  const auto found = info.find(name);
  return found == info.end() ? std::string_view() : found->second;
}

// Whether the source shows a key that is written to the target. For servers that refuse INFO.
Result<bool> ShowsWrites(RedisClient& reader, RedisClient& writer) {
  std::random_device random;
  const std::string key = fmt::format("cairn-copy:{:08x}{:08x}{:08x}", random(), random(), random());
  TRY(writer.Call({"SET", key, "", "PX", kProbeLifeMs}));
  std::this_thread::sleep_for(kProbeWait);
  const RemoteReply shown = TRY(reader.Call({"EXISTS", key}));
  TRY(writer.Call({"DEL", key}));
  return shown.number != 0;
}

// An error if a key that is deleted in the target is deleted in the source too: a copy without DUMP deletes a key of
// the target before it has read all of the value.
Status CheckApart(RedisClient& reader, const RedisClient::Address& from, RedisClient& writer,
                  const RedisClient::Address& into) {
  if (from.database != into.database) return Ok();
  const FieldsByName source = ReadInfo(reader);
  const FieldsByName target = ReadInfo(writer);
  const auto shares = [&](std::string_view name) {
    const std::string_view value = FindField(source, name);
    return !value.empty() && value != kNoReplicationId && value == FindField(target, name);
  };
  if ((from.host == into.host && from.port == into.port) || shares("run_id")) {
    return Status::Io("the source and the target are the same database of one server");
  }
  const bool may_follow = FindField(source, "role") == "slave" && FindField(target, "role") == "master";
  if (may_follow && shares("master_replid")) {
    return Status::Io("the source is a replica of the target");
  }
  const bool are_known = !source.empty() && !target.empty();
  if (!are_known && TRY(ShowsWrites(reader, writer))) {
    return Status::Io("the source shows what is written to the target: it is the same database, or a replica of it");
  }
  return Ok();
}

Status Copy(const std::string& source, const std::string& target) {
  Tls tls;
  if (FLAGS_tls || FLAGS_into_tls) TRY(ConfigureByFlags(tls));
  RedisClient::Address from = TRY(ParseAddress(source, 0));
  from.user = FLAGS_user;
  from.password = FromEnvironment("CAIRN_COPY_FROM_PASSWORD");
  from.database = FLAGS_database;
  if (FLAGS_tls) from.tls = &tls;
  RedisClient::Address into = TRY(ParseAddress(target, 0));
  into.user = FLAGS_into_user;
  into.password = FromEnvironment("CAIRN_COPY_INTO_PASSWORD");
  into.database = FLAGS_into_database;
  if (FLAGS_into_tls) into.tls = &tls;
  RedisClient reader;
  RedisClient writer;
  TRY(reader.Connect(from));
  TRY(writer.Connect(into));
  TRY(CheckApart(reader, from, writer, into));
  ProgressBar bar("copying", 0, "keys");
  KeyCopy copy(reader, writer, {.uses_dump = FLAGS_dump, .pattern = FLAGS_match});
  TRY(copy.Run([&bar](uint64_t keys) { bar.Show(keys, ""); }));
  const KeyCopy::Totals& totals = copy.totals();
  bar.Finish(totals.copied, "");
  fmt::print("{} keys copied, {} of them by the commands of their types\n", totals.copied, totals.by_commands);
  if (!totals.first_refusal.empty()) fmt::print("the first refusal: {}\n", totals.first_refusal);
  if (totals.skipped == 0) return Ok();
  return Status::Io(fmt::format("{} keys were skipped; the first is {}", totals.skipped, totals.first_skipped));
}

}  // namespace

int main(int argc, char** argv) {
  ParseToolFlags("FROM_HOST:PORT INTO_HOST:PORT\n\nCopies the keys of a server that speaks Redis's protocol.", 2, argc,
                 argv);
  if (argc != 3) {
    ShowUsage(kProgram);
    return 2;
  }
  const Status done = Copy(argv[1], argv[2]);
  return done.ok() ? 0 : RefuseOffline(kProgram, done);
}
