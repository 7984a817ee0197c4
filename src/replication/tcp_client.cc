// SPDX-License-Identifier: BSD-3-Clause
#include "replication/tcp_client.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <utility>

namespace cairn {
namespace {

constexpr size_t kReadBytes = 4096;

Status LastError(std::string_view doing) {
  return Status::Io(std::string(doing) + ": " + std::strerror(errno));
}

// Waits until the socket is ready for `events`.
Status Poll(int socket, short events, int64_t timeout_ms) {
  pollfd watched{.fd = socket, .events = events, .revents = 0};
  const int timeout = static_cast<int>(std::min<int64_t>(timeout_ms, INT_MAX));
  int ready;
  do {
    ready = poll(&watched, 1, timeout);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) return Status::Io("timed out");
  return ready < 0 ? LastError("poll") : Ok();
}

// Connects a socket that does not block, and waits until it is connected or refused.
Status Finish(int socket, const addrinfo& address, int64_t timeout_ms) {
  if (connect(socket, address.ai_addr, address.ai_addrlen) == 0) return Ok();
  return errno == EINPROGRESS ? Poll(socket, POLLOUT, timeout_ms) : LastError("connect");
}

// A socket that is connected to one address.
Result<int> ConnectTo(const addrinfo& address, int64_t timeout_ms) {
  const int made = socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol);
  if (made < 0) return LastError("socket");
  Status status = Finish(made, address, timeout_ms);
  if (!status.ok()) {
    close(made);
    return status;
  }
  const int on = 1;
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return made;
}

}  // namespace

Result<TcpClient> TcpClient::Connect(const std::string& host, const std::string& port, int64_t timeout_ms) {
  const addrinfo hints{.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) return Status::Io(gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  for (const addrinfo* each = found;; each = each->ai_next) {
    Result<int> connected = ConnectTo(*each, timeout_ms);
    if (connected.ok()) return TcpClient(*connected);
    if (each->ai_next == nullptr) return Status::Io(connected.status().text());
  }
}

TcpClient::~TcpClient() {
  if (socket_ >= 0) close(socket_);
}

TcpClient::TcpClient(TcpClient&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), received_(std::move(other.received_)) {}

TcpClient& TcpClient::operator=(TcpClient&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(received_, other.received_);
  return *this;
}

Status TcpClient::WaitFor(short events, int64_t timeout_ms) const { return Poll(socket_, events, timeout_ms); }

Status TcpClient::Write(std::string_view bytes, int64_t timeout_ms) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      TRY(WaitFor(POLLOUT, timeout_ms));
    } else if (errno != EINTR) {
      return LastError("send");
    }
  }
  return Ok();
}

Result<std::string> TcpClient::ReadLine(int64_t timeout_ms) {
  for (;;) {
    const size_t end = received_.find("\r\n");
    if (end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 2);
      return line;
    }
    TRY(WaitFor(POLLIN, timeout_ms));
    char bytes[kReadBytes];
    const ssize_t got = recv(socket_, bytes, sizeof(bytes), 0);
    if (got == 0) return Status::Io("closed by the other side");
    if (got > 0) {
      received_.append(bytes, static_cast<size_t>(got));
    } else if (errno != EAGAIN && errno != EINTR) {
      return LastError("recv");
    }
  }
}

}  // namespace cairn
