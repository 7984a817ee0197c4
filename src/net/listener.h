// SPDX-License-Identifier: BSD-3-Clause
//
// Listener: bound addresses and the I/O threads that serve its connections and no other's, so that a flood on
// one listener leaves the others alone. Its first thread accepts; connections go round its threads.
//
// Thread: Open, Start and Stop the owner's; Move and place any. What it listens on is guarded by mutex_; a socket's
// event belongs to the thread that accepts, to which sockets that come and go are posted.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/io_thread.h"
#include "net/rate_limit.h"
#include "net/service.h"
#include "net/spare_descriptor.h"

struct sockaddr;

namespace cairn {

// A socket that listens on a numeric address, "*" for all of IPv4, "::*" for all of IPv6; kIo with a sentence when that
// cannot be done. -1 where nothing is to be done: the machine does not speak the protocol, or does not have an address
// with a dash in front. `shares` lets it overlap with sockets that are set to SO_REUSEPORT; it is not so set itself.
Result<int> ListenTcp(const std::string& address, int port, int backlog, bool shares = false);

// Whether the address is of this machine's loopback interface.
bool IsLoopback(const sockaddr& address);

// Where TCP clients come in. "127.0.0.1", "::1", as ListenTcp takes them.
struct ListenPlace {
  std::vector<std::string> addresses;
  int port = 0;  // 0: no TCP

  bool operator==(const ListenPlace&) const = default;
};

struct ListenerOptions {
  ListenPlace place;         // at first
  std::string unix_path;     // empty: no Unix socket
  int unix_permissions = 0;  // 0: as the umask has it
  int io_threads = 1;
  int64_t qps_limit = 0;
  bool read_only = false;
  int backlog = 511;
  int keepalive_s = 300;
  const Tls* tls = nullptr;            // its connections speak TLS. REQUIRES: configured
  IoThread::PushThreads push_threads;  // where its connections go by what is pushed to them
};

class Listener {
 public:
  // Binds and listens; kIo with a sentence when that cannot be done.
  static Result<std::unique_ptr<Listener>> Open(const ListenerOptions& options, Service& service);
  ~Listener();

  void Start();
  // No more connections; the threads end. Requests on the slow lane may still be running.
  void Stop();
  // Takes TCP clients in at another place from now on, at none without an address or a port. What can stay stays, new
  // sockets listen before old ones are closed, and on an error, kIo with a sentence, nothing has changed. Clients that
  // are connected stay connected.
  Status Move(const ListenPlace& place);
  // What TCP clients find it at.
  ListenPlace place() const;
  // Whether anybody finds it at all.
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
  size_t next_thread_ = 0;  // of the thread that accepts, as the next two
  SpareDescriptor spare_;
  int64_t next_complaint_us_ = 0;
  mutable std::mutex mutex_;    // a leaf, but for jobs posted to its threads
  ListenPlace place_;           // guarded by mutex_
  Doors doors_;                 // guarded by mutex_
  std::shared_ptr<Door> unix_;  // guarded by mutex_; null: none
  bool stopped_ = false;        // guarded by mutex_
};

}  // namespace cairn
