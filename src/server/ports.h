// SPDX-License-Identifier: BSD-3-Clause
//
// Ports: the listeners of a server: one for `port`, `bind` and `unixsocket`, one for `tls-port`, and one for each
// `listen` line; and the threads that serve connections of replicas. The first two listeners can be changed by CONFIG
// SET. A listener lives until the end, with its I/O threads and their clients, even after its port was closed.
//
// Thread: main for Open, Start, Stop and Clear; any for the rest. The set of listeners is guarded by mutex_, which
// ranks before the mutexes of a listener and of posted jobs.
#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"
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

  // Listens as configured, and from now on follows CONFIG SET; the error is for the operator.
  Status Open();
  void Start();
  // Stops accepting connections and ends the I/O threads; All() stays valid until Clear().
  void Stop();
  void Clear();

  // Returns the listeners in the order of INFO's lines.
  std::vector<Listener*> All() const;

 private:
  ListenerOptions Options() const;
  ListenerOptions TlsOptions() const;
  std::vector<Listener*> Listed() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Status Apply(std::unique_ptr<Listener>& listener, const ListenerOptions& options)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Status FollowPort();
  Status FollowTlsPort();
  Status FollowBind();

  Service& service_;
  Config& config_;
  Tls& tls_settings_;
  RateLimit no_limit_{0};
  // Shared by all listeners, so they end after them; main creates them in Open and destroys them in Clear.
  std::unique_ptr<IoThread> streams_;    // sends the stream to replicas
  std::unique_ptr<IoThread> transfers_;  // sends first transfers, at a low priority
  mutable Mutex mutex_;
  std::unique_ptr<Listener> main_ ABSL_GUARDED_BY(mutex_);  // null: never needed
  std::unique_ptr<Listener> tls_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Listener>> lines_ ABSL_GUARDED_BY(mutex_);
  bool started_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace cairn
