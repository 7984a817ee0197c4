// SPDX-License-Identifier: BSD-3-Clause
#include "net/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"

namespace cairn {
namespace {

constexpr int kMostAcceptsPerTurn = 256;
constexpr int kMostTurnedAway = 64;  // before a pause
constexpr timeval kAcceptPause{0, 100000};
constexpr int64_t kComplaintPauseUs = 1000000;

Status Failed(const std::string& what) { return Status::Io(what + ": " + strerror(errno)); }

// Whether another socket may listen on this one's address. Both must agree.
void ShareAddress(int fd, bool shares) {
  const int value = shares ? 1 : 0;
  setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &value, sizeof value);
}

Result<int> ListenUnix(const ListenerOptions& options) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (options.unix_path.size() >= sizeof address.sun_path) {
    return Status::Io("unix socket path is too long: " + options.unix_path);
  }
  memcpy(address.sun_path, options.unix_path.c_str(), options.unix_path.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Failed("cannot create a socket");
  // Removes the socket of an earlier server; never removes any other file.
  struct stat old;
  if (lstat(options.unix_path.c_str(), &old) == 0 && S_ISSOCK(old.st_mode)) unlink(options.unix_path.c_str());
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(fd, options.backlog) != 0) {
    Status status = Failed("cannot listen on " + options.unix_path);
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
    return fmt::format("[{}]:{}", text, ntohs(address->sin6_port));
  }
  const auto* address = reinterpret_cast<const sockaddr_in*>(&storage);
  inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
  return fmt::format("{}:{}", text, ntohs(address->sin_port));
}

}  // namespace

bool IsLoopback(const sockaddr& address) {
  if (address.sa_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  }
  return ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == 127;
}

Result<int> ListenTcp(const std::string& address, int port, int backlog, bool shares) {
  const bool optional = address.starts_with('-');
  const std::string host = optional ? address.substr(1) : address;
  const std::string name = fmt::format("{}:{}", host, port);
  const bool is_v6 = host.find(':') != std::string::npos;
  sockaddr_storage storage{};
  socklen_t size;
  bool valid;
  if (is_v6) {
    auto* own = reinterpret_cast<sockaddr_in6*>(&storage);
    own->sin6_family = AF_INET6;
    own->sin6_port = htons(static_cast<uint16_t>(port));
    valid = host == "::*" || inet_pton(AF_INET6, host.c_str(), &own->sin6_addr) == 1;
    size = sizeof *own;
  } else {
    auto* own = reinterpret_cast<sockaddr_in*>(&storage);
    own->sin_family = AF_INET;
    own->sin_port = htons(static_cast<uint16_t>(port));
    valid = host == "*" || inet_pton(AF_INET, host.c_str(), &own->sin_addr) == 1;
    size = sizeof *own;
  }
  if (!valid) return Status::Io("cannot listen on " + name + ": not an IP address");
  const int fd = socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0 && errno == EAFNOSUPPORT) return -1;
  if (fd < 0) return Failed("cannot create a socket");
  const int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (is_v6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
  if (shares) ShareAddress(fd, true);
  const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&storage), size) == 0;
  const bool is_missing = !bound && optional && errno == EADDRNOTAVAIL;
  if (bound && listen(fd, backlog) == 0) {
    if (shares) ShareAddress(fd, false);
    return fd;
  }
  Status failure = Failed("cannot listen on " + name);
  close(fd);
  if (is_missing) return -1;
  return failure;
}

// A listening socket. Its last owner frees its events and closes it, on the accepting thread or after its end.
class Listener::Door {
 public:
  Door(int fd, std::string address, int port) : fd_(fd), address_(std::move(address)), port_(port) {}
  ~Door() {
    for (event* const one : {accept_event_, resume_event_}) {
      if (one != nullptr) event_free(one);
    }
    close(fd_);
  }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  int fd() const { return fd_; }
  bool IsAt(const std::string& address, int port) const { return address_ == address && port_ == port; }
  // Makes the listener accept on the loop's thread, which is the caller or is not running yet.
  void Watch(event_base* base, Listener& listener) {
    listener_ = &listener;
    const auto accept = [](int, short, void* self) {
      auto* const door = static_cast<Door*>(self);
      door->listener_->Accept(*door);
    };
    const auto resume = [](int, short, void* self) { event_add(static_cast<Door*>(self)->accept_event_, nullptr); };
    accept_event_ = event_new(base, fd_, EV_READ | EV_PERSIST, accept, this);
    resume_event_ = event_new(base, -1, 0, resume, this);
    event_add(accept_event_, nullptr);
  }
  // Accepts no client for a moment. Thread: the loop's.
  void Pause() {
    event_del(accept_event_);
    event_add(resume_event_, &kAcceptPause);
  }
  // Accepts no client from now on. Any thread.
  void Shut() const { shutdown(fd_, SHUT_RDWR); }

 private:
  const int fd_;
  const std::string address_;
  const int port_;
  Listener* listener_ = nullptr;
  event* accept_event_ = nullptr;
  event* resume_event_ = nullptr;  // after Pause
};

// Keeps the doors of `present` that are wanted and opens new ones. A new address may overlap with one that is no
// longer wanted, as "*" does with "127.0.0.1": both listen for a moment.
Result<Listener::Doors> Listener::OpenDoors(const ListenPlace& place, int backlog, const Doors& present) {
  Doors leaving = present;
  Doors doors;
  for (size_t i = 0; place.port != 0 && i < place.addresses.size(); ++i) {
    const auto is_there = [&](const std::shared_ptr<Door>& door) { return door->IsAt(place.addresses[i], place.port); };
    const auto found = std::find_if(leaving.begin(), leaving.end(), is_there);
    doors.push_back(found == leaving.end() ? nullptr : *found);
    if (found != leaving.end()) leaving.erase(found);
  }
  for (const auto& door : leaving) ShareAddress(door->fd(), true);
  Status failure;
  for (size_t i = 0; i < doors.size() && failure.ok(); ++i) {
    if (doors[i] != nullptr) continue;
    Result<int> fd = ListenTcp(place.addresses[i], place.port, backlog, !leaving.empty());
    if (!fd.ok()) {
      failure = std::move(fd).TakeStatus();
    } else if (*fd >= 0) {
      doors[i] = std::make_shared<Door>(*fd, place.addresses[i], place.port);
    }
  }
  for (const auto& door : leaving) ShareAddress(door->fd(), false);
  if (!failure.ok()) return failure;
  std::erase(doors, nullptr);
  return doors;
}

Result<std::unique_ptr<Listener>> Listener::Open(const ListenerOptions& options, Service& service) {
  Doors doors = TRY(OpenDoors(options.place, options.backlog, {}));
  std::shared_ptr<Door> unix_door;
  if (!options.unix_path.empty()) {
    unix_door = std::make_shared<Door>(TRY(ListenUnix(options)), options.unix_path, 0);
  }
  auto listener = std::unique_ptr<Listener>(new Listener(options, service));
  for (const auto& door : doors) listener->Watch(*door);
  if (unix_door != nullptr) listener->Watch(*unix_door);
  {
    const MutexLock lock(listener->mutex_);
    listener->doors_ = std::move(doors);
    listener->unix_ = std::move(unix_door);
  }
  return listener;
}

Listener::Listener(const ListenerOptions& options, Service& service)
    : options_(options), limit_(options.qps_limit), place_(options.place) {
  for (size_t i = 0; i < static_cast<size_t>(options.io_threads); ++i) {
    threads_.push_back(
        std::make_unique<IoThread>(ThreadName(options.place.port, i), service, limit_, options.push_threads));
  }
}

Listener::~Listener() {
  Stop();
  if (!options_.unix_path.empty()) unlink(options_.unix_path.c_str());
}

std::string Listener::ThreadName(int port, size_t thread) const {
  return fmt::format("io-{}-{}", port != 0 ? std::to_string(port) : "unix", thread);
}

void Listener::Watch(Door& door) { door.Watch(threads_[0]->base(), *this); }

void Listener::Start() {
  for (const auto& thread : threads_) thread->Start();
}

void Listener::Stop() {
  for (const auto& thread : threads_) thread->Stop();
  const MutexLock lock(mutex_);
  stopped_ = true;
  for (const auto& door : doors_) door->Shut();
  doors_.clear();
  unix_.reset();
}

ListenPlace Listener::place() const {
  const MutexLock lock(mutex_);
  return place_;
}

bool Listener::listens() const {
  const MutexLock lock(mutex_);
  return !doors_.empty() || unix_ != nullptr;
}

Status Listener::Move(const ListenPlace& place) {
  const MutexLock lock(mutex_);
  if (stopped_) return Status::Io("the server is stopping");
  if (place == place_) return Ok();
  Doors doors = TRY(OpenDoors(place, options_.backlog, doors_));
  doors_.swap(doors);
  const auto is_in = [](const Doors& list, const std::shared_ptr<Door>& door) {
    return std::find(list.begin(), list.end(), door) != list.end();
  };
  for (const auto& door : doors_) {
    if (!is_in(doors, door)) threads_[0]->Post([this, door] { Watch(*door); });
  }
  for (auto& door : doors) {
    if (is_in(doors_, door)) continue;
    door->Shut();
    threads_[0]->Post([left = std::move(door)] {});
  }
  if (place.port != place_.port) {
    for (size_t i = 0; i < threads_.size(); ++i) threads_[i]->Rename(ThreadName(place.port, i));
  }
  place_ = place;
  return Ok();
}

void Listener::Prepare(int fd) const {
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (options_.keepalive_s == nullptr) return;
  const int idle = static_cast<int>(options_.keepalive_s->load(std::memory_order_relaxed));
  if (idle == 0) return;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
  const int interval = std::max(idle / 3, 1);
  const int probes = 3;
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

void Listener::Accept(Door& door) {
  for (int i = 0; i < kMostAcceptsPerTurn; ++i) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    const int fd = accept4(door.fd(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      const bool lacks_room = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (lacks_room) TurnAway(door, errno);
      return;
    }
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
    threads_[next_thread_++ % threads_.size()]->Adopt(fd, origin);
  }
}

// Refuses clients with the help of the spare descriptor. Pauses even if there is none: the socket stays readable, and
// an immediate retry would use up a processor.
void Listener::TurnAway(Door& door, int error) {
  if (MonotonicUs() >= next_complaint_us_) {
    Log(LogSeverity::kWarning, "Accepting a client failed: {}", strerror(error));
    next_complaint_us_ = MonotonicUs() + kComplaintPauseUs;
  }
  for (int i = 0; i < kMostTurnedAway; ++i) {
    spare_.Give();
    const int fd = accept4(door.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) break;
    if (options_.tls == nullptr) (void)!send(fd, kTooManyClients.data(), kTooManyClients.size(), MSG_NOSIGNAL);
    close(fd);
  }
  spare_.Take();
  door.Pause();
}

}  // namespace cairn
