// SPDX-License-Identifier: BSD-3-Clause
//
// Ports: the listeners of a server: that of `port`, `bind` and `unixsocket`, that of `tls-port`, and one for each
// `listen` line; and the thread that has those of their connections that are streamed to. The first two listeners
// follow CONFIG SET. A listener that there has been stays until the end, with its I/O threads and the clients they
// serve, also when its port was closed.
//
// Thread: Open, Start, Stop and Clear main's; the rest any. Which listeners there are is guarded by mutex_, after which
// those of a listener and of posted jobs come.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "net/io_thread.h"
#include "net/listener.h"
#include "net/rate_limit.h"

namespace cairn {

class Config;
class Service;
class Tls;

class Ports {
 public:
  Ports(Service& service, Config& config, Tls& tls) : service_(service), config_(config), tls_settings_(tls) {}

  // Listens as the configuration has it, and from now on as CONFIG SET does; the error is for the operator.
  Status Open();
  void Start();
  // No more connections, and the I/O threads end; All() stays valid until Clear().
  void Stop();
  void Clear();

  // In the order of INFO's lines.
  std::vector<Listener*> All() const;

 private:
  ListenerOptions Options() const;
  ListenerOptions TlsOptions() const;
  std::vector<Listener*> Listed() const;
  Status Apply(std::unique_ptr<Listener>& listener, const ListenerOptions& options);
  Status FollowPort();
  Status FollowTlsPort();
  Status FollowBind();

  Service& service_;
  Config& config_;
  Tls& tls_settings_;
  RateLimit no_limit_{0};
  // Of all listeners, so they end after them; main makes and ends them, Open to Clear.
  std::unique_ptr<IoThread> streams_;    // sends replicas the stream
  std::unique_ptr<IoThread> transfers_;  // sends them data sets, at a low priority
  mutable std::mutex mutex_;
  std::unique_ptr<Listener> main_;  // guarded by mutex_, as the others are; null: never needed
  std::unique_ptr<Listener> tls_;
  std::vector<std::unique_ptr<Listener>> lines_;
  bool started_ = false;
  bool stopped_ = false;
};

}  // namespace cairn
