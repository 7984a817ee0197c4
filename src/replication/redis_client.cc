// SPDX-License-Identifier: BSD-3-Clause
#include "replication/redis_client.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "base/number.h"

namespace cairn {
namespace {

constexpr int64_t kTimeoutMs = 60'000;
constexpr size_t kReadBytes = 64 << 10;
constexpr int64_t kMostBytes = int64_t{4} << 30;  // of one text
constexpr int64_t kMostItems = int64_t{1} << 28;  // of one array
constexpr int kMostDepth = 8;                     // XINFO and XRANGE nest arrays four deep

}  // namespace

FieldsByName ParseInfo(std::string_view text) {
  FieldsByName fields;
  while (!text.empty()) {
    const size_t end = text.find("\r\n");
    const std::string_view line = text.substr(0, end);
    if (const size_t colon = line.find(':'); colon != line.npos) {
      fields.emplace(line.substr(0, colon), line.substr(colon + 1));
    }
    text.remove_prefix(end == text.npos ? text.size() : end + 2);
  }
  return fields;
}

Status RedisClient::Connect(const Address& address) {
  name_ = fmt::format("{}:{}", address.host, address.port);
  const Status connected = socket_.Connect(address.host, address.port, kTimeoutMs, "", address.tls);
  if (!connected.ok()) return Named(connected);
  if (!address.user.empty()) {
    TRY(Call({"AUTH", address.user, address.password}));
  } else if (!address.password.empty()) {
    TRY(Call({"AUTH", address.password}));
  }
  if (address.database != 0) TRY(Call({"SELECT", std::to_string(address.database)}));
  return Ok();
}

Status RedisClient::Named(const Status& error) const { return Status::Io(fmt::format("{}: {}", name_, error.text())); }

void RedisClient::Queue(std::span<const std::string_view> argv) {
  queued_ += fmt::format("*{}\r\n", argv.size());
  for (const std::string_view arg : argv) queued_ += fmt::format("${}\r\n{}\r\n", arg.size(), arg);
}

Status RedisClient::Flush() {
  const Status sent = socket_.Send(queued_, kTimeoutMs);
  if (!sent.ok()) return Named(sent);
  queued_.clear();
  return Ok();
}

Result<RemoteReply> RedisClient::Call(std::span<const std::string_view> argv) {
  ASSERT(queued_.empty(), "the reply would be that of a queued command");
  Queue(argv);
  TRY(Flush());
  RemoteReply reply = TRY(Receive());
  if (reply.Is(RemoteReply::Kind::kError)) {
    return Status::Io(fmt::format("{} replied to {}: {}", name_, argv.front(), reply.text));
  }
  return reply;
}

Result<RemoteReply> RedisClient::Receive() { return ReceiveAt(0); }

Result<RemoteReply> RedisClient::ReceiveAt(int depth) {
  const std::string line = TRY(ReceiveLine());
  const auto broken = [&] { return Status::Io(fmt::format("{} sent no reply of RESP2: {}", name_, line)); };
  if (line.empty() || depth > kMostDepth) return broken();
  RemoteReply reply;
  const std::string_view rest = std::string_view(line).substr(1);
  if (line[0] == '+' || line[0] == '-') {
    reply.kind = line[0] == '+' ? RemoteReply::Kind::kText : RemoteReply::Kind::kError;
    reply.text = rest;
    return reply;
  }
  const auto number = ParseInt64(rest);
  if (!number) return broken();
  if (line[0] == ':') {
    reply.kind = RemoteReply::Kind::kInteger;
    reply.number = *number;
  } else if (line[0] == '$' && *number >= 0 && *number <= kMostBytes) {
    const auto size = static_cast<size_t>(*number);
    TRY(Fill(size + 2));
    reply.kind = RemoteReply::Kind::kText;
    reply.text = arrived_.substr(next_, size);
    next_ += size + 2;
  } else if (line[0] == '*' && *number >= 0 && *number <= kMostItems) {
    reply.kind = RemoteReply::Kind::kArray;
    for (int64_t i = 0; i < *number; ++i) reply.items.push_back(TRY(ReceiveAt(depth + 1)));
  } else if ((line[0] != '$' && line[0] != '*') || *number != -1) {
    return broken();
  }
  return reply;
}

Result<std::string> RedisClient::ReceiveLine() {
  size_t end;
  for (size_t from = next_; (end = arrived_.find("\r\n", from)) == std::string::npos;) {
    const size_t unread = arrived_.size() - next_;
    TRY(Fill(unread + 1));
    from = next_ + (unread == 0 ? 0 : unread - 1);
  }
  std::string line = arrived_.substr(next_, end - next_);
  next_ = end + 2;
  return line;
}

Status RedisClient::Fill(size_t size) {
  if (arrived_.size() - next_ >= size) return Ok();
  arrived_.erase(0, next_);
  next_ = 0;
  while (arrived_.size() < size) {
    const size_t before = arrived_.size();
    arrived_.resize(before + kReadBytes);
    const Result<size_t> got = socket_.Read(arrived_.data() + before, kReadBytes, kTimeoutMs);
    arrived_.resize(before + (got.ok() ? *got : 0));
    if (!got.ok()) return Named(got.status());
    if (*got == 0) return Status::Io(fmt::format("{} sent nothing for {} s", name_, kTimeoutMs / 1000));
  }
  return Ok();
}

}  // namespace cairn
