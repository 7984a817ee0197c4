// SPDX-License-Identifier: BSD-3-Clause
//
// Servers: replies of another server, to a migration of slots (ReplyCounter) and to copies of keys (RedisClient). They
// must not depend on the pieces in which the bytes arrive.
//
// Input: the kind of reader, then the bytes of a connection.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <tuple>

#include "base/assert.h"
#include "cluster/reply_counter.h"
#include "fuzz/targets/target.h"
#include "replication/redis_client.h"

namespace cairn {
namespace {

enum Choice : uint8_t { kCounter, kClient, kInfo, kChoiceCount };

// A port of this machine at which each client receives given bytes. A connection is reset at the end, because the
// kernel would keep the ports of others for a minute.
class ByteServer {
 public:
  ByteServer() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    const bool listens =
        bind(listener_, any, size) == 0 && listen(listener_, 8) == 0 && getsockname(listener_, any, &size) == 0;
    ASSERT(listens, "the machine has a free port");
    port_ = ntohs(address.sin_port);
  }
  ~ByteServer() { close(listener_); }
  ByteServer(const ByteServer&) = delete;
  ByteServer& operator=(const ByteServer&) = delete;

  // The replies in the bytes, up to the first that is damaged.
  std::vector<RemoteReply> Receive(std::string_view bytes) const {
    RedisClient client;
    const Status connected = client.Connect({.host = "127.0.0.1", .port = port_});
    ASSERT(connected.ok(), std::string(connected.text()).c_str());
    const int fd = accept(listener_, nullptr, nullptr);
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ASSERT(sent == static_cast<ssize_t>(bytes.size()), "the kernel holds the bytes of an input");
    shutdown(fd, SHUT_WR);
    std::vector<RemoteReply> replies;
    for (auto reply = client.Receive(); reply.ok(); reply = client.Receive()) replies.push_back(std::move(*reply));
    const linger reset{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fd);
    return replies;
  }

 private:
  const int listener_;
  int port_ = 0;
};

// An error with a line feed becomes a text: no server sends one, and only one of the readers takes it for the end.
void AppendReply(std::string& out, const RemoteReply& reply) {
  using Kind = RemoteReply::Kind;
  const bool is_line = reply.Is(Kind::kError) && reply.text.find('\n') == std::string::npos;
  switch (is_line || !reply.Is(Kind::kError) ? reply.kind : Kind::kText) {
    case Kind::kNil: out += "$-1\r\n"; return;
    case Kind::kInteger: out += ":" + std::to_string(reply.number) + "\r\n"; return;
    case Kind::kError: out += "-" + reply.text + "\r\n"; return;
    case Kind::kText: out += "$" + std::to_string(reply.text.size()) + "\r\n" + reply.text + "\r\n"; return;
    case Kind::kArray: break;
  }
  out += "*" + std::to_string(reply.items.size()) + "\r\n";
  for (const RemoteReply& item : reply.items) AppendReply(out, item);
}

std::string Encoded(const std::vector<RemoteReply>& replies) {
  std::string bytes;
  for (const RemoteReply& reply : replies) AppendReply(bytes, reply);
  return bytes;
}

ReplyCounter Counted(std::string_view bytes, size_t piece) {
  ReplyCounter counter;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) counter.Feed(bytes.substr(0, piece));
  return counter;
}

auto PartsOf(const ReplyCounter& counter) { return std::tuple(counter.count(), counter.error(), counter.last_line()); }

void CheckCounter(std::string_view input) {
  const ReplyCounter whole = Counted(input, SIZE_MAX);
  for (const size_t piece : {1, 7}) {
    ASSERT(PartsOf(Counted(input, piece)) == PartsOf(whole), "replies do not depend on the pieces");
  }
  ASSERT(whole.count() <= input.size(), "a reply has bytes");
}

void CheckClient(const ByteServer& server, std::string_view input) {
  const std::string bytes = Encoded(server.Receive(input));
  const std::vector<RemoteReply> replies = server.Receive(bytes);
  ASSERT(Encoded(replies) == bytes, "encoded replies are the same");
  ASSERT(Counted(bytes, SIZE_MAX).count() == replies.size(), "both readers find as many replies");
}

void CheckInfo(std::string_view input) {
  const FieldsByName fields = ParseInfo(input);
  std::string text;
  for (const auto& [name, value] : fields) text.append(name).append(":").append(value).append("\r\n");
  ASSERT(ParseInfo(text) == fields, "written fields are the same");
}

void Run(const ByteServer& server, std::string_view input) {
  switch (TakeChoice(input) % kChoiceCount) {
    case kCounter: return CheckCounter(input);
    case kClient: return CheckClient(server, input);
    default: return CheckInfo(input);
  }
}

std::function<void(std::string_view)> Make() {
  return [server = std::make_shared<ByteServer>()](std::string_view input) { Run(*server, input); };
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const Choice choice : {kCounter, kClient}) {
    for (const char* replies : {"+OK\r\n:12\r\n-ERR no\r\n", "$3\r\na\nb\r\n$-1\r\n$0\r\n\r\n",
                                "*3\r\n*2\r\n:1\r\n$1\r\nx\r\n*0\r\n*-1\r\n", "-BUSYKEY exists\r\n+OK\r\n"}) {
      seeds.push_back(Chosen(choice, replies));
    }
  }
  seeds.push_back(Chosen(kInfo, "# Server\r\nredis_version:7.0.15\r\n\r\ndb0:keys=1,expires=0\r\n"));
  return seeds;
}

}  // namespace

const FuzzTarget kServersTarget = {.name = "servers",
                                   .make = Make,
                                   .seeds = Seeds,
                                   .covers = "src/cluster/reply_counter src/replication/redis_client"};

}  // namespace cairn
