// SPDX-License-Identifier: BSD-3-Clause
#include "replication/blocking_socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>

#include "base/clock.h"
#include "base/deadline.h"

namespace cairn {
namespace {

constexpr size_t kLongestLine = 64 * 1024;

Status SocketError(const std::string& what) { return Status::Io(what + ": " + std::strerror(errno)); }
Status TimedOut(const std::string& what) { return Status::Io(what + ": timed out"); }

// As in Redis, an address that cannot be bound is ignored.
void BindTo(int fd, const std::string& address, int family) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.c_str(), nullptr, &hints, &found) != 0) return;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  (void)!bind(fd, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
}

}  // namespace

BlockingSocket::BlockingSocket() : wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

BlockingSocket::~BlockingSocket() {
  Close();
  close(wake_fd_);
}

void BlockingSocket::Close() {
  tls_.reset();
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

void BlockingSocket::Interrupt() {
  interrupted_ = true;
  const uint64_t one = 1;
  (void)!write(wake_fd_, &one, sizeof one);
}

Result<bool> BlockingSocket::Await(short events, int64_t timeout_ms) {
  pollfd fds[] = {{fd_, events, 0}, {wake_fd_, POLLIN, 0}};
  const int64_t deadline_us = DeadlineUs(timeout_ms);
  for (;;) {
    const int64_t left_ms = std::clamp<int64_t>((deadline_us - MonotonicUs() + 999) / 1000, 0, INT_MAX);
    const int ready = poll(fds, 2, static_cast<int>(left_ms));
    if (interrupted_) return Status::Io("the link was interrupted");
    if (ready < 0 && errno != EINTR) return SocketError("poll");
    if (ready > 0 && fds[0].revents != 0) return true;
    if (ready == 0 && left_ms < INT_MAX) return false;
  }
}

Status BlockingSocket::Failed(const std::string& what) const {
  if (tls_ == nullptr || tls_->failure().empty()) return SocketError(what);
  return Status::Io(what + ": " + tls_->failure());
}

Status BlockingSocket::Connect(const std::string& host, int port, int64_t timeout_ms, const std::string& from,
                               const Tls* tls) {
  Close();
  interrupted_ = false;
  uint64_t ignored;
  (void)!read(wake_fd_, &ignored, sizeof ignored);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int resolved = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (resolved != 0) return Status::Io(host + ": " + gai_strerror(resolved));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> keep(found, freeaddrinfo);
  int64_t addresses = 0;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) ++addresses;
  Status status = Status::Io(host + ": no address");
  for (const addrinfo* each = found; each != nullptr && !interrupted_; each = each->ai_next) {
    status = ConnectTo(*each, host, timeout_ms / addresses, from);
    if (status.ok()) break;
    Close();
  }
  if (status.ok() && tls != nullptr) tls_ = tls->Connect(fd_, host);
  return status;
}

Status BlockingSocket::ConnectTo(const addrinfo& address, const std::string& host, int64_t timeout_ms,
                                 const std::string& from) {
  fd_ = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd_ < 0) return SocketError("socket");
  if (!from.empty()) BindTo(fd_, from, address.ai_family);
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd_, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  if (connect(fd_, address.ai_addr, address.ai_addrlen) != 0 && errno != EINPROGRESS) return SocketError(host);
  if (!TRY(Await(POLLOUT, timeout_ms))) return TimedOut("connecting to " + host);
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  errno = error;
  return error == 0 ? Ok() : SocketError(host);
}

Status BlockingSocket::Send(std::string_view bytes, int64_t timeout_ms) {
  while (!bytes.empty()) {
    const ssize_t sent =
        tls_ == nullptr ? send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) : tls_->Write(bytes.data(), bytes.size());
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      const bool for_reading = tls_ != nullptr && !tls_->needs_writable(true);
      if (!TRY(Await(for_reading ? POLLIN : POLLOUT, timeout_ms))) return TimedOut("sending");
    } else if (errno != EINTR) {
      return Failed("sending");
    }
  }
  return Ok();
}

Status BlockingSocket::SendCommand(std::span<const std::string_view> argv, int64_t timeout_ms) {
  std::string bytes = "*" + std::to_string(argv.size()) + "\r\n";
  for (const std::string_view arg : argv) {
    bytes.append("$").append(std::to_string(arg.size())).append("\r\n").append(arg).append("\r\n");
  }
  return Send(bytes, timeout_ms);
}

Result<size_t> BlockingSocket::Read(char* into, size_t most, int64_t timeout_ms) {
  for (;;) {
    if (interrupted_) return Status::Io("the link was interrupted");
    const ssize_t got = tls_ == nullptr ? recv(fd_, into, most, 0) : tls_->Read(into, most);
    if (got > 0) return static_cast<size_t>(got);
    if (got == 0) return Status::Io("the connection was closed by the other side");
    if (errno == EAGAIN) {
      const bool for_writing = tls_ != nullptr && tls_->needs_writable(false);
      if (!TRY(Await(for_writing ? POLLOUT : POLLIN, timeout_ms))) return size_t{0};
    } else if (errno != EINTR) {
      return Failed("reading");
    }
  }
}

// Reads byte by byte: another reader takes the bytes that follow the line.
Result<std::string> BlockingSocket::ReadLine(int64_t timeout_ms) {
  std::string line;
  while (line.size() < kLongestLine) {
    char byte;
    if (TRY(Read(&byte, 1, timeout_ms)) == 0) return TimedOut("waiting for a reply");
    if (byte != '\n') {
      line.push_back(byte);
      continue;
    }
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) return line;
  }
  return Status::Io("the reply is too long");
}

}  // namespace cairn
