// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/bus_links.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "bus/message_reader.h"
#include "bus/message_writer.h"
#include "net/listener.h"

namespace cairn {
namespace {

// Numbers of epoll that are no links.
constexpr uint64_t kWakeNumber = 0;
constexpr uint64_t kListenerNumber = uint64_t{1} << 63;

constexpr int kBacklog = 511;
constexpr size_t kReadBytes = size_t{64} << 10;
// A stranger sends small messages only; a node sends the messages of PUBLISH.
constexpr size_t kMostOfStranger = size_t{16} << 20;
constexpr size_t kMostOfNode = size_t{1} << 30;
constexpr int kEventsPerWait = 128;
constexpr int kMostAccepts = 1000;
constexpr int64_t kComplaintPauseMs = 1000;
constexpr size_t kKeptBytes = size_t{1} << 20;

// A large message must not keep its memory for the life of a link.
void GiveBack(std::string& buffer) {
  if (buffer.empty() && buffer.capacity() > kKeptBytes) std::string().swap(buffer);
}

// The address of one end of a connection, without the port.
std::string AddressOf(int fd, int (*get)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (get(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET6) {
    inet_ntop(AF_INET6, &reinterpret_cast<sockaddr_in6&>(storage).sin6_addr, text, sizeof text);
  } else {
    inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in&>(storage).sin_addr, text, sizeof text);
  }
  return text;
}

void SendAtOnce(int fd) {
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
}

// Begins a connection; -1 if that fails.
int Connect(const std::string& ip, uint16_t port) {
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (auto& v4 = reinterpret_cast<sockaddr_in&>(storage); inet_pton(AF_INET, ip.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    size = sizeof v4;
  } else if (auto& v6 = reinterpret_cast<sockaddr_in6&>(storage); inet_pton(AF_INET6, ip.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    size = sizeof v6;
  } else {
    return -1;
  }
  const int fd = socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (connect(fd, reinterpret_cast<sockaddr*>(&storage), size) != 0 && errno != EINPROGRESS) {
    close(fd);
    return -1;
  }
  SendAtOnce(fd);
  return fd;
}

}  // namespace

BusLinks::~BusLinks() {
  CloseAll();
  for (const int fd : listeners_) close(fd);
  if (epoll_ >= 0) close(epoll_);
  if (wake_ >= 0) close(wake_);
}

void BusLinks::Watch(int fd, uint64_t number, uint32_t events, bool is_new) const {
  epoll_event event{};
  event.events = events;
  event.data.u64 = number;
  epoll_ctl(epoll_, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
}

void BusLinks::WatchLink(BusLinkId id, Socket& socket) const {
  const bool has_output = !socket.unsent.empty();
  const bool writes = socket.tls == nullptr ? has_output : socket.tls->needs_writable(has_output);
  const uint32_t events = EPOLLIN | (writes ? EPOLLOUT : 0u);
  if (events == std::exchange(socket.events, events)) return;
  Watch(socket.fd, id, events, false);
}

Status BusLinks::Listen(const std::vector<std::string>& addresses, int port, const Tls* tls) {
  tls_ = tls;
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (epoll_ < 0 || wake_ < 0)
    return Status::Io(std::string("cluster bus: cannot create an epoll: ") + strerror(errno));
  Watch(wake_, kWakeNumber, EPOLLIN, true);
  ready_.resize(kEventsPerWait);
  for (const std::string& address : addresses) {
    const int fd = TRY(ListenTcp(address, port, kBacklog));
    if (fd < 0) continue;
    listeners_.push_back(fd);
    // Once for each new connection: without descriptors, the others would be reported again and again.
    Watch(fd, kListenerNumber | static_cast<uint64_t>(fd), EPOLLIN | EPOLLET, true);
  }
  return Ok();
}

void BusLinks::Wait(int64_t most_ms) {
  ready_count_ = epoll_wait(epoll_, ready_.data(), kEventsPerWait, static_cast<int>(most_ms));
}

void BusLinks::Wake() const {
  const uint64_t one = 1;
  static_cast<void>(write(wake_, &one, sizeof one));
}

void BusLinks::Handle() {
  if (std::exchange(must_accept_, false)) {
    for (const int listener : listeners_) Accept(listener);
  }
  for (const BusLinkId id : std::exchange(failed_, {})) events_.on_closed(id);
  for (int i = 0; i < ready_count_; ++i) {
    const uint64_t number = ready_[i].data.u64;
    const uint32_t events = ready_[i].events;
    if (number == kWakeNumber) {
      uint64_t count;
      static_cast<void>(read(wake_, &count, sizeof count));
      continue;
    }
    if ((number & kListenerNumber) != 0) {
      Accept(static_cast<int>(number & ~kListenerNumber));
      continue;
    }
    const auto found = sockets_.find(number);
    if (found == sockets_.end()) continue;  // an earlier event closed it
    Socket& socket = found->second;
    if (socket.is_connecting) {
      if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0) Connected(number, socket);
      continue;
    }
    // With TLS a write may have waited for a readable socket, and a read for a writable one.
    const bool is_tls = socket.tls != nullptr;
    if ((is_tls || (events & EPOLLOUT) != 0) && !Write(socket)) {
      Break(number);
      continue;
    }
    if ((is_tls || (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) && !Read(number)) {
      Break(number);
      continue;
    }
    if (const auto still = sockets_.find(number); still != sockets_.end()) WatchLink(number, still->second);
  }
  ready_count_ = 0;
}

void BusLinks::Connected(BusLinkId id, Socket& socket) {
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket.fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    Break(id);
    return;
  }
  socket.is_connecting = false;
  if (tls_ != nullptr) socket.tls = tls_->Connect(socket.fd, socket.peer);
  WatchLink(id, socket);
  events_.on_opened(id);  // its message begins the handshake of TLS
}

void BusLinks::Accept(int listener) {
  for (int i = 0; i < kMostAccepts; ++i) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno != EAGAIN) must_accept_ = true;
      return;
    }
    SendAtOnce(fd);
    std::string peer = AddressOf(fd, getpeername);
    const BusLinkId id = events_.on_accepted(peer, AddressOf(fd, getsockname));
    if (id == 0) {
      close(fd);
      continue;
    }
    Socket& socket = sockets_[id];
    socket.fd = fd;
    socket.peer = std::move(peer);
    socket.events = EPOLLIN;
    if (tls_ != nullptr) socket.tls = tls_->AcceptNode(fd, socket.peer);
    Watch(fd, id, EPOLLIN, true);
  }
  must_accept_ = true;
}

void BusLinks::Open(BusLinkId id, const std::string& ip, uint16_t port) {
  const int fd = Connect(ip, port);
  if (fd < 0) {
    // The protocol hears of it after its present step.
    failed_.push_back(id);
    Wake();
    return;
  }
  Socket& socket = sockets_[id];
  socket.fd = fd;
  socket.is_connecting = true;
  socket.peer = ip + ":" + std::to_string(port);
  socket.events = EPOLLOUT;
  Watch(fd, id, EPOLLOUT, true);
}

void BusLinks::CloseSocket(Socket& socket) {
  socket.tls.reset();  // which says goodbye
  close(socket.fd);
}

void BusLinks::Close(BusLinkId id) {
  const auto found = sockets_.find(id);
  if (found == sockets_.end()) return;
  CloseSocket(found->second);
  sockets_.erase(found);
}

void BusLinks::CloseAll() {
  for (auto& [id, socket] : sockets_) CloseSocket(socket);
  sockets_.clear();
  failed_.clear();
}

void BusLinks::Break(BusLinkId id) {
  Close(id);
  events_.on_closed(id);
}

bool BusLinks::Read(BusLinkId id) {
  char bytes[kReadBytes];
  while (true) {
    const auto found = sockets_.find(id);
    if (found == sockets_.end()) return true;  // a message has closed the link
    Socket& socket = found->second;
    const ssize_t count =
        socket.tls == nullptr ? recv(socket.fd, bytes, sizeof bytes, 0) : socket.tls->Read(bytes, sizeof bytes);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (count < 0 && socket.tls != nullptr && socket.tls->in_handshake()) {
      Complain(socket, "no TLS: " + socket.tls->failure());
    }
    if (count <= 0) return false;
    const bool has_more = socket.tls != nullptr && socket.tls->has_more();
    socket.received.append(bytes, static_cast<size_t>(count));
    if (!TakeMessages(id)) return false;
    if (!has_more) return true;
  }
}

bool BusLinks::TakeMessages(BusLinkId id) {
  std::string_view rest = sockets_[id].received;
  while (true) {
    const auto found = sockets_.find(id);
    if (found == sockets_.end()) return true;  // the last message has closed the link, and its bytes are gone
    Socket& socket = found->second;
    const auto taken = TakeMessage(rest, socket.is_trusted ? kMostOfNode : kMostOfStranger);
    if (!taken.ok()) {
      Complain(socket, "its bytes are damaged: " + std::string(taken.status().text()));
      return false;
    }
    if (!*taken) {
      socket.received.erase(0, socket.received.size() - rest.size());
      GiveBack(socket.received);
      return true;
    }
    const Result<Message> message = DecodeMessage(**taken);
    if (!message.ok()) {
      Complain(socket, "its bytes are damaged: " + std::string(message.status().text()));
      return false;
    }
    if (!events_.on_message(id, *message)) continue;
    if (const auto still = sockets_.find(id); still != sockets_.end()) still->second.is_trusted = true;
  }
}

void BusLinks::Complain(const Socket& socket, std::string_view reason) {
  const int64_t now_ms = MonotonicMs();
  if (complained_ms_ != 0 && now_ms - complained_ms_ < kComplaintPauseMs) return;
  complained_ms_ = now_ms;
  Log(LogSeverity::kWarning, "cluster bus: the link with {} is closed, {}", socket.peer, reason);
}

void BusLinks::Send(BusLinkId id, const Message& message) {
  const auto found = sockets_.find(id);
  if (found == sockets_.end()) return;
  Socket& socket = found->second;
  const bool was_empty = socket.unsent.empty();
  if (socket.sent > socket.unsent.size() / 2) {
    socket.unsent.erase(0, socket.sent);
    socket.sent = 0;
  }
  AppendMessage(socket.unsent, message);
  if (in_batch_ || !was_empty || socket.is_connecting) return;
  // A broken socket is noticed by its next event.
  static_cast<void>(Write(socket));
  WatchLink(id, socket);
}

void BusLinks::EndBatch() {
  in_batch_ = false;
  for (auto& [id, socket] : sockets_) {
    if (socket.unsent.empty() || socket.is_connecting || (socket.events & EPOLLOUT) != 0) continue;
    static_cast<void>(Write(socket));
    WatchLink(id, socket);
  }
}

bool BusLinks::Write(Socket& socket) {
  while (socket.sent < socket.unsent.size()) {
    const char* const from = socket.unsent.data() + socket.sent;
    const size_t left = socket.unsent.size() - socket.sent;
    const ssize_t count =
        socket.tls == nullptr ? send(socket.fd, from, left, MSG_NOSIGNAL) : socket.tls->Write(from, left);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const bool is_full = errno == EAGAIN;
      if (!is_full && socket.tls != nullptr && socket.tls->in_handshake()) {
        Complain(socket, "no TLS: " + socket.tls->failure());
      }
      return is_full;
    }
    socket.sent += static_cast<size_t>(count);
  }
  socket.unsent.clear();
  socket.sent = 0;
  GiveBack(socket.unsent);
  return true;
}

void BusLinks::CloseLinksAbove(size_t limit_bytes) {
  if (limit_bytes == 0) return;
  std::vector<BusLinkId> above;
  for (const auto& [id, socket] : sockets_) {
    if (socket.unsent.size() - socket.sent > limit_bytes) above.push_back(id);
  }
  for (const BusLinkId id : above) {
    Log(LogSeverity::kWarning, "cluster bus: the link with {} is closed, {} bytes are not sent yet", sockets_[id].peer,
        sockets_[id].unsent.size() - sockets_[id].sent);
    ++closed_above_limit_;
    Break(id);
  }
}

BusLinks::Buffer BusLinks::BufferOf(BusLinkId id) const {
  const auto found = sockets_.find(id);
  if (found == sockets_.end()) return {};
  const Socket& socket = found->second;
  const size_t used = socket.unsent.size() - socket.sent;
  return {.allocated = socket.unsent.capacity(), .used = used, .is_writing = used > 0};
}

}  // namespace cairn
