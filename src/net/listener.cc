// SPDX-License-Identifier: BSD-3-Clause
#include "net/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

namespace cairn {
namespace {

constexpr int kMostAcceptsPerTurn = 256;

Status Failed(const std::string& what) { return Status::Io(what + ": " + strerror(errno)); }

Result<int> BindUnix(const ListenerOptions& options) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (options.unix_path.size() >= sizeof address.sun_path) {
    return Status::Io("unix socket path is too long: " + options.unix_path);
  }
  memcpy(address.sun_path, options.unix_path.c_str(), options.unix_path.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Failed("cannot create a socket");
  unlink(options.unix_path.c_str());
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    Status status = Failed("cannot bind " + options.unix_path);
    close(fd);
    return status;
  }
  if (options.unix_permissions != 0) {
    chmod(options.unix_path.c_str(), static_cast<mode_t>(options.unix_permissions));
  }
  return fd;
}

std::string AddressText(const sockaddr_storage& storage) {
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET6) {
    const auto* address = reinterpret_cast<const sockaddr_in6*>(&storage);
    inet_ntop(AF_INET6, &address->sin6_addr, text, sizeof text);
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(address->sin6_port));
  }
  const auto* address = reinterpret_cast<const sockaddr_in*>(&storage);
  inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
  return std::string(text) + ":" + std::to_string(ntohs(address->sin_port));
}

}  // namespace

bool IsLoopback(const sockaddr& address) {
  if (address.sa_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  }
  return ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == 127;
}

Result<int> BindTcp(const std::string& host, int port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  sockaddr_storage storage{};
  socklen_t size;
  bool valid;
  if (is_v6) {
    auto* address = reinterpret_cast<sockaddr_in6*>(&storage);
    address->sin6_family = AF_INET6;
    address->sin6_port = htons(static_cast<uint16_t>(port));
    valid = inet_pton(AF_INET6, host.c_str(), &address->sin6_addr) == 1;
    size = sizeof *address;
  } else {
    auto* address = reinterpret_cast<sockaddr_in*>(&storage);
    address->sin_family = AF_INET;
    address->sin_port = htons(static_cast<uint16_t>(port));
    valid = host == "*" || inet_pton(AF_INET, host.c_str(), &address->sin_addr) == 1;
    size = sizeof *address;
  }
  const std::string name = host + ":" + std::to_string(port);
  if (!valid) return Status::Io("cannot listen on " + name + ": not an IP address");
  const int fd = socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Failed("cannot create a socket");
  const int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (is_v6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
  if (bind(fd, reinterpret_cast<sockaddr*>(&storage), size) != 0) {
    Status status = Failed("cannot bind " + name);
    close(fd);
    return status;
  }
  return fd;
}

Result<std::unique_ptr<Listener>> Listener::Open(const ListenerOptions& options, Service& service) {
  std::vector<int> sockets;
  Status failure;
  const auto add = [&](Result<int> bound, bool optional) {
    if (bound.ok() && listen(*bound, options.backlog) == 0) {
      sockets.push_back(*bound);
    } else if (!optional && failure.ok()) {
      failure = bound.ok() ? Failed("cannot listen") : std::move(bound).TakeStatus();
    }
  };
  for (const std::string& address : options.addresses) {
    if (options.port == 0) break;
    const bool optional = address.starts_with('-');
    add(BindTcp(optional ? address.substr(1) : address, options.port), optional);
  }
  if (!options.unix_path.empty()) add(BindUnix(options), false);
  if (failure.ok() && sockets.empty()) failure = Status::Io("no address to listen on");
  if (!failure.ok()) {
    for (const int socket : sockets) close(socket);
    return failure;
  }
  return std::unique_ptr<Listener>(new Listener(options, service, std::move(sockets)));
}

Listener::Listener(const ListenerOptions& options, Service& service, std::vector<int> sockets)
    : options_(options), limit_(options.qps_limit), sockets_(std::move(sockets)) {
  const std::string place = options.port != 0 ? std::to_string(options.port) : "unix";
  for (int i = 0; i < options.io_threads; ++i) {
    threads_.push_back(
        std::make_unique<IoThread>("io-" + place + "-" + std::to_string(i), service, limit_));
  }
  const auto on_accept = [](int fd, short, void* self) { static_cast<Listener*>(self)->Accept(fd); };
  for (const int socket : sockets_) {
    accept_events_.push_back(event_new(threads_[0]->base(), socket, EV_READ | EV_PERSIST, on_accept, this));
    event_add(accept_events_.back(), nullptr);
  }
}

Listener::~Listener() {
  Stop();
  if (!options_.unix_path.empty()) unlink(options_.unix_path.c_str());
}

void Listener::Start() {
  for (const auto& thread : threads_) thread->Start();
}

void Listener::Stop() {
  for (const auto& thread : threads_) thread->Stop();
  for (event* accept_event : accept_events_) event_free(accept_event);
  for (const int socket : sockets_) close(socket);
  accept_events_.clear();
  sockets_.clear();
}

void Listener::Prepare(int fd) const {
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (options_.keepalive_s == 0) return;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
  const int idle = options_.keepalive_s;
  const int interval = std::max(idle / 3, 1);
  const int probes = 3;
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

void Listener::Accept(int socket) {
  for (int i = 0; i < kMostAcceptsPerTurn; ++i) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    const int fd = accept4(socket, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    if (peer.ss_family != AF_UNIX) Prepare(fd);
    ConnectionOrigin origin;
    origin.fd = fd;
    origin.read_only = options_.read_only;
    origin.tls = options_.tls;
    origin.is_unix = peer.ss_family == AF_UNIX;
    if (origin.is_unix) {
      origin.peer = origin.local = options_.unix_path + ":0";
      origin.is_loopback = true;
    } else {
      sockaddr_storage local{};
      socklen_t local_size = sizeof local;
      getsockname(fd, reinterpret_cast<sockaddr*>(&local), &local_size);
      origin.peer = AddressText(peer);
      origin.local = AddressText(local);
      origin.is_loopback = IsLoopback(reinterpret_cast<const sockaddr&>(peer));
    }
    threads_[next_thread_++ % threads_.size()]->Adopt(fd, std::move(origin));
  }
}

}  // namespace cairn
