// SPDX-License-Identifier: BSD-3-Clause
//
// cairn-copy: copies the keys of a server that speaks Redis's protocol to another one, over the wire. For servers that
// Cairn cannot replicate from and that write no RDB files.
#include <fmt/format.h>
#include <gflags/gflags.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/number.h"
#include "replication/key_copy.h"
#include "replication/redis_client.h"
#include "server/offline.h"
#include "server/progress_bar.h"

DEFINE_int64(database, 0, "the database that is read");
DEFINE_int64(into_database, 0, "the database that is written");
DEFINE_string(match, "", "copy only keys that match this pattern of SCAN");
DEFINE_bool(dump, true, "use DUMP and RESTORE where both servers can");
DEFINE_string(user, "", "the user of the first server; its password is in CAIRN_COPY_FROM_PASSWORD");
DEFINE_string(into_user, "", "the user of the second server; its password is in CAIRN_COPY_INTO_PASSWORD");

namespace {

using namespace cairn;

constexpr char kProgram[] = "cairn-copy";

std::string FromEnvironment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Reads host:port.
Result<RedisClient::Address> ParseAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos ? std::nullopt : ParseInt64(std::string_view(text).substr(colon + 1));
  if (!port || *port < 1 || *port > 65535 || colon == 0) return Status::Io("'" + text + "' is not <host>:<port>");
  return RedisClient::Address{.host = text.substr(0, colon), .port = static_cast<int>(*port)};
}

Status Copy(const std::string& source, const std::string& target) {
  RedisClient::Address from = TRY(ParseAddress(source));
  from.user = FLAGS_user;
  from.password = FromEnvironment("CAIRN_COPY_FROM_PASSWORD");
  from.database = FLAGS_database;
  RedisClient::Address into = TRY(ParseAddress(target));
  into.user = FLAGS_into_user;
  into.password = FromEnvironment("CAIRN_COPY_INTO_PASSWORD");
  into.database = FLAGS_into_database;
  RedisClient reader;
  RedisClient writer;
  TRY(reader.Connect(from));
  TRY(writer.Connect(into));
  ProgressBar bar("copying", 0, "keys");
  KeyCopy copy(reader, writer, {.uses_dump = FLAGS_dump, .pattern = FLAGS_match});
  TRY(copy.Run([&bar](uint64_t keys) { bar.Show(keys, ""); }));
  const KeyCopy::Totals& totals = copy.totals();
  bar.Finish(totals.copied, "");
  fmt::print("{} keys copied, {} of them by the commands of their types\n", totals.copied, totals.by_commands);
  if (totals.skipped == 0) return Ok();
  return Status::Io(fmt::format("{} keys were skipped, because no command here reads their type; the first is {}",
                                totals.skipped, totals.first_skipped));
}

}  // namespace

int main(int argc, char** argv) {
  gflags::SetUsageMessage("FROM_HOST:PORT INTO_HOST:PORT\n\nCopies the keys of a server that speaks Redis's protocol.");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc != 3) {
    std::fprintf(stderr, "Usage: %s %s\n", kProgram, gflags::ProgramUsage());
    return 2;
  }
  const Status done = Copy(argv[1], argv[2]);
  return done.ok() ? 0 : RefuseOffline(kProgram, done);
}
