// SPDX-License-Identifier: BSD-3-Clause
#include "server/facts_reader.h"

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/number.h"
#include "doctor/machine.h"
#include "replication/blocking_socket.h"

namespace cairn {
namespace {

constexpr int64_t kTimeoutMs = 30'000;
constexpr std::string_view kProcessName = "cairn-server";

// A reply: a text, or an array of replies.
struct Value {
  std::string text;
  std::vector<Value> items;
};

// A client. Thread: main.
class ServerConnection {
 public:
  Status Connect(const std::string& host, int port) { return socket_.Connect(host, port, kTimeoutMs); }

  // An error reply is an error of the code kReply.
  Result<Value> Ask(std::initializer_list<std::string_view> argv) {
    TRY(socket_.SendCommand(argv, kTimeoutMs));
    return ReadValue();
  }

 private:
  Result<Value> ReadValue() {
    const std::string line = TRY(socket_.ReadLine(kTimeoutMs));
    const std::string_view rest = std::string_view(line).substr(1);
    if (line[0] == '-') return Status::Reply(std::string(rest));
    Value value;
    if (line[0] == '$') {
      value.text = TRY(ReadBulk(ParseInt64(rest).value_or(-1)));
    } else if (line[0] == '*') {
      for (int64_t left = ParseInt64(rest).value_or(0); left > 0; --left) value.items.push_back(TRY(ReadValue()));
    } else {
      value.text = rest;
    }
    return value;
  }

  Result<std::string> ReadBulk(int64_t size) {
    constexpr size_t kLineEnd = 2;
    if (size < 0) return std::string();
    std::string bytes(static_cast<size_t>(size) + kLineEnd, '\0');
    for (size_t got = 0; got < bytes.size();) {
      const size_t more = TRY(socket_.Read(bytes.data() + got, bytes.size() - got, kTimeoutMs));
      if (more == 0) return Status::Io("the server does not answer");
      got += more;
    }
    bytes.resize(static_cast<size_t>(size));
    return bytes;
  }

  BlockingSocket socket_;
};

void ReadInfo(std::string_view text, Facts::Fields& fields) {
  while (!text.empty()) {
    const size_t end = text.find("\r\n");
    const std::string_view line = text.substr(0, end);
    if (const size_t colon = line.find(':'); colon != line.npos) {
      fields.emplace(line.substr(0, colon), line.substr(colon + 1));
    }
    text.remove_prefix(end == text.npos ? text.size() : end + 2);
  }
}

int64_t Number(const Value& value) { return ParseInt64(value.text).value_or(0); }

// HOTKEYS GET: an array of one map; the keys and their times follow each other.
void ReadHotKeys(const Value& reply, std::vector<HotKey>& keys) {
  if (reply.items.empty()) return;
  const std::vector<Value>& fields = reply.items.front().items;
  int64_t whole = 0;
  for (size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (fields[i].text == "all-commands-all-slots-us") whole = Number(fields[i + 1]);
    if (fields[i].text != "by-cpu-time-us" || whole <= 0) continue;
    const std::vector<Value>& sums = fields[i + 1].items;
    for (size_t k = 0; k + 1 < sums.size(); k += 2) {
      keys.push_back({sums[k].text, static_cast<double>(Number(sums[k + 1])) / static_cast<double>(whole)});
    }
  }
}

// Optional facts: a user without the permission, or another kind of server, leaves them out.
void ReadOptional(ServerConnection& server, Facts& facts) {
  if (const auto config = server.Ask({"CONFIG", "GET", "*"}); config.ok()) {
    for (size_t i = 0; i + 1 < config->items.size(); i += 2) {
      facts.config.emplace(config->items[i].text, config->items[i + 1].text);
    }
  }
  if (const auto latency = server.Ask({"LATENCY", "LATEST"}); latency.ok()) {
    for (const Value& event : latency->items) {
      if (event.items.size() < 4) continue;
      facts.latency.push_back({event.items[0].text, Number(event.items[1]), Number(event.items[3])});
    }
  }
  if (const auto slow = server.Ask({"SLOWLOG", "GET", "-1"}); slow.ok()) {
    for (const Value& entry : slow->items) {
      if (entry.items.size() > 1) facts.slow_unix_s.push_back(Number(entry.items[1]));
    }
  }
  if (const auto hot = server.Ask({"HOTKEYS", "GET"}); hot.ok()) ReadHotKeys(*hot, facts.hot_keys);
}

}  // namespace

Result<Facts> ReadFacts(const std::string& host, int port, const Login& login) {
  ServerConnection server;
  TRY(server.Connect(host, port));
  Facts facts;
  facts.now_s = WallMs() / 1000;
  facts.needs_password = !server.Ask({"PING"}).ok();
  if (!login.password.empty()) TRY(server.Ask({"AUTH", login.user, login.password}));
  ReadInfo(TRY(server.Ask({"INFO", "everything"})).text, facts.info);
  ReadOptional(server, facts);
  const auto pid = static_cast<pid_t>(facts.Number("process_id"));
  if (pid > 0 && IsProcess(pid, kProcessName)) {
    facts.machine = ReadMachine(pid, std::string(facts.Directive("dir")));
  }
  return facts;
}

}  // namespace cairn
