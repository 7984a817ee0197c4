// SPDX-License-Identifier: BSD-3-Clause
//
// Listener: bound addresses with I/O threads of their own, so that a flood on one listener does not affect the others.
// The first thread accepts; connections are distributed over the threads in turn.
//
// Thread: Open, Start and Stop are for the owner; Move and place for any. mutex_ guards the addresses. A socket's
// event belongs to the accepting thread, to which added and removed sockets are posted.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "net/io_thread.h"
#include "net/rate_limit.h"
#include "net/service.h"
#include "net/spare_descriptor.h"

struct sockaddr;

namespace cairn {

// Opens a listening socket on a numeric address, "*" for all of IPv4, "::*" for all of IPv6; kIo with a message on an
// error. -1 if the address is skipped: the machine has no such protocol, or the address starts with a dash and the
// machine does not have it. `shares`: the address may overlap with those of SO_REUSEPORT sockets; the new socket does
// not set that option itself.
Result<int> ListenTcp(const std::string& address, int port, int backlog, bool shares = false);

// Whether the address belongs to this machine's loopback interface.
bool IsLoopback(const sockaddr& address);

// The addresses for TCP clients: "127.0.0.1", "::1", as in ListenTcp.
struct ListenPlace {
  std::vector<std::string> addresses;
  int port = 0;  // 0: no TCP

  bool operator==(const ListenPlace&) const = default;
};

struct ListenerOptions {
  ListenPlace place;         // the initial one
  std::string unix_path;     // empty: no Unix socket
  int unix_permissions = 0;  // 0: set by the umask
  int io_threads = 1;
  int64_t qps_limit = 0;
  bool read_only = false;
  int backlog = 511;
  const std::atomic<int64_t>* keepalive_s = nullptr;  // read for each connection; null or 0: no probes
  const Tls* tls = nullptr;                           // null: no TLS. REQUIRES: configured
  IoThread::PushThreads push_threads;                 // threads for connections with pushed output
};

class Listener {
 public:
  // Binds and listens; kIo with a message on an error.
  static Result<std::unique_ptr<Listener>> Open(const ListenerOptions& options, Service& service);
  ~Listener();

  void Start();
  // Accepts no more connections and ends the threads. Requests on the slow lane may still be running.
  void Stop();
  // Listens for TCP clients on other addresses from now on; on none without an address or a port. Unchanged sockets
  // stay, new ones listen before old ones are closed, and on an error (kIo with a message) nothing changes. Connected
  // clients stay connected.
  Status Move(const ListenPlace& place);
  // The current addresses for TCP clients.
  ListenPlace place() const;
  // Whether it listens on any address.
  bool listens() const;
  const ListenerOptions& options() const { return options_; }

 private:
  class Door;
  using Doors = std::vector<std::shared_ptr<Door>>;

  Listener(const ListenerOptions& options, Service& service);
  static Result<Doors> OpenDoors(const ListenPlace& place, int backlog, const Doors& present);
  void Watch(Door& door);
  void Accept(Door& door);
  void TurnAway(Door& door, int error);
  void Prepare(int fd) const;
  std::string ThreadName(int port, size_t thread) const;

  const ListenerOptions options_;
  RateLimit limit_;
  std::vector<std::unique_ptr<IoThread>> threads_;
  size_t next_thread_ = 0;  // for the accepting thread, as the next two
  SpareDescriptor spare_;
  int64_t next_complaint_us_ = 0;
  mutable Mutex mutex_;  // a leaf, except for jobs posted to its threads
  ListenPlace place_ ABSL_GUARDED_BY(mutex_);
  Doors doors_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Door> unix_ ABSL_GUARDED_BY(mutex_);  // null: none
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace cairn
