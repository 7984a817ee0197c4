// SPDX-License-Identifier: BSD-3-Clause
#include "server/facts_reader.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/number.h"
#include "doctor/machine.h"

namespace cairn {
namespace {

constexpr std::string_view kProcessName = "cairn-server";

// HOTKEYS GET has some of its numbers as texts.
int64_t Number(const RemoteReply& value) {
  return value.Is(RemoteReply::Kind::kInteger) ? value.number : ParseInt64(value.text).value_or(0);
}

// HOTKEYS GET: an array of one map; the keys and their times follow each other.
void ReadHotKeys(const RemoteReply& reply, std::vector<HotKey>& keys) {
  if (reply.items.empty()) return;
  const std::vector<RemoteReply>& fields = reply.items.front().items;
  int64_t whole = 0;
  int64_t ratio = 1;  // the sums of keys count one command of so many
  for (size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (fields[i].text == "sample-ratio") ratio = Number(fields[i + 1]);
    if (fields[i].text == "all-commands-all-slots-us") whole = Number(fields[i + 1]);
    if (fields[i].text != "by-cpu-time-us" || whole <= 0) continue;
    const std::vector<RemoteReply>& sums = fields[i + 1].items;
    for (size_t k = 0; k + 1 < sums.size(); k += 2) {
      const double sum = static_cast<double>(Number(sums[k + 1])) * static_cast<double>(ratio);
      keys.push_back({sums[k].text, std::min(1.0, sum / static_cast<double>(whole))});
    }
  }
}

// Whether the server refuses a client without a password. Other errors, such as LOADING and MASTERDOWN, concern any
// client.
bool RefusesClient(const RemoteReply& reply) {
  constexpr std::string_view kRefusals[] = {"NOAUTH", "DENIED", "NOPERM"};
  return reply.Is(RemoteReply::Kind::kError) &&
         std::ranges::any_of(kRefusals, [&](std::string_view word) { return reply.text.starts_with(word); });
}

// Optional facts: a user without the permission, or another kind of server, leaves them out.
void ReadOptional(RedisClient& server, Facts& facts) {
  if (const auto config = server.Call({"CONFIG", "GET", "*"}); config.ok()) {
    for (size_t i = 0; i + 1 < config->items.size(); i += 2) {
      facts.config.emplace(config->items[i].text, config->items[i + 1].text);
    }
  }
  if (const auto latency = server.Call({"LATENCY", "LATEST"}); latency.ok()) {
    for (const RemoteReply& event : latency->items) {
      if (event.items.size() < 4) continue;
      facts.latency.push_back(
          {event.items[0].text, Number(event.items[1]), Number(event.items[2]), Number(event.items[3])});
    }
  }
  if (const auto slow = server.Call({"SLOWLOG", "GET", "-1"}); slow.ok()) {
    for (const RemoteReply& entry : slow->items) {
      if (entry.items.size() > 1) facts.slow_unix_s.push_back(Number(entry.items[1]));
    }
  }
  if (const auto hot = server.Call({"HOTKEYS", "GET"}); hot.ok()) ReadHotKeys(*hot, facts.hot_keys);
}

Status ReadInfo(RedisClient& server, const RedisClient::Address& address, Facts& facts) {
  if (!address.password.empty()) TRY(server.Call({"AUTH", address.user, address.password}));
  facts.info = ParseInfo(TRY(server.Call({"INFO", "everything"})).text);
  return Ok();
}

}  // namespace

Result<Facts> ReadFacts(const RedisClient::Address& address) {
  RedisClient server;
  TRY(server.Connect({.host = address.host, .port = address.port, .tls = address.tls}));
  Facts facts;
  facts.now_s = WallMs() / 1000;
  server.Queue({"PING"});
  TRY(server.Flush());
  const RemoteReply ping = TRY(server.Receive());
  facts.needs_password = RefusesClient(ping);
  Status read = ReadInfo(server, address, facts);
  // A server that takes no more clients says so and closes the connection.
  const bool is_refused = ping.Is(RemoteReply::Kind::kError) && !ping.text.starts_with("NO");  // NOAUTH, NOPERM
  if (!read.ok() && is_refused) read = Status::Io("the server replied: " + ping.text);
  TRY(std::move(read));
  ReadOptional(server, facts);
  const auto pid = static_cast<pid_t>(facts.Number("process_id"));
  if (pid > 0 && IsProcess(pid, kProcessName, facts.Number("uptime_in_seconds"))) {
    facts.machine = ReadMachine(pid, std::string(facts.Directive("dir")));
  }
  return facts;
}

}  // namespace cairn
