// SPDX-License-Identifier: BSD-3-Clause
//
// Listener: bound addresses and the I/O threads that serve its connections and no other's, so that a flood on
// one listener leaves the others alone. Its first thread accepts; connections go round its threads.
//
// Thread: the owner's, before Start and after Stop.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/io_thread.h"
#include "net/rate_limit.h"
#include "net/service.h"

struct event;
struct sockaddr;

namespace cairn {

// A socket bound to a numeric address, "*" for all of IPv4; kIo with a sentence when that cannot be done.
Result<int> BindTcp(const std::string& host, int port);

// Whether the address is of this machine's loopback interface.
bool IsLoopback(const sockaddr& address);

struct ListenerOptions {
  // "127.0.0.1", "::1", "*" for all of IPv4. One with a dash in front may be missing on this machine.
  std::vector<std::string> addresses;
  int port = 0;               // 0: no TCP
  std::string unix_path;      // empty: no Unix socket
  int unix_permissions = 0;   // 0: as the umask has it
  int io_threads = 1;
  int64_t qps_limit = 0;
  bool read_only = false;
  int backlog = 511;
  int keepalive_s = 300;
  const Tls* tls = nullptr;   // its connections speak TLS. REQUIRES: configured
};

class Listener {
 public:
  // Binds and listens; kIo with a sentence when that cannot be done.
  static Result<std::unique_ptr<Listener>> Open(const ListenerOptions& options, Service& service);
  ~Listener();

  void Start();
  // No more connections; the threads end. Requests on the slow lane may still be running.
  void Stop();
  const ListenerOptions& options() const { return options_; }  // any thread

 private:
  Listener(const ListenerOptions& options, Service& service, std::vector<int> sockets);
  void Accept(int socket);
  void Prepare(int fd) const;

  const ListenerOptions options_;
  RateLimit limit_;
  std::vector<int> sockets_;
  std::vector<event*> accept_events_;
  size_t next_thread_ = 0;
  std::vector<std::unique_ptr<IoThread>> threads_;
};

}  // namespace cairn
