// SPDX-License-Identifier: BSD-3-Clause
#include "server/ports.h"

#include <algorithm>

#include "base/log.h"
#include "base/thread.h"
#include "config/config.h"
#include "config/tls_settings.h"
#include "net/service.h"

namespace cairn {
namespace {

constexpr std::string_view kCannotListen = "Unable to listen on this port. Check server logs.";
constexpr std::string_view kCannotBind = "Failed to bind to specified addresses.";

// Returns Redis's error for the client, and logs the reason for the operator.
Status Refuse(const Status& why, std::string_view words) {
  Log(LogSeverity::kWarning, "{}", why.text());
  return Status::Reply(words);
}

}  // namespace

ListenerOptions Ports::Options() const {
  const Settings& settings = config_.settings();
  ListenerOptions options;
  options.place = {config_.Words("bind"), static_cast<int>(settings.port)};
  options.backlog = static_cast<int>(settings.tcp_backlog);
  options.keepalive_s = &settings.tcp_keepalive_s;
  options.unix_path = config_.Text("unixsocket");
  options.unix_permissions = static_cast<int>(settings.unixsocketperm);
  options.io_threads = static_cast<int>(settings.io_threads);
  options.push_threads = {.datasets = transfers_.get(), .streams = streams_.get()};
  return options;
}

ListenerOptions Ports::TlsOptions() const {
  ListenerOptions options = Options();
  options.place.port = static_cast<int>(config_.settings().tls_port);
  options.unix_path.clear();
  options.tls = &tls_settings_;
  return options;
}

Status Ports::Open() {
  {
    const MutexLock lock(mutex_);
    streams_ = std::make_unique<IoThread>("io-streams", service_, no_limit_, IoThread::PushThreads{});
    transfers_ = std::make_unique<IoThread>("io-transfers", service_, no_limit_,
                                            IoThread::PushThreads{.streams = streams_.get()});
    TRY(Apply(main_, Options()));
    TRY(Apply(tls_, TlsOptions()));
    for (const ListenSpec& spec : config_.Listeners()) {
      ListenerOptions own = Options();
      own.place = {{spec.address}, spec.port};
      own.unix_path = spec.unix_path;
      own.io_threads = spec.io_threads;
      own.qps_limit = spec.qps_limit;
      own.read_only = spec.read_only;
      own.tls = spec.tls ? &tls_settings_ : nullptr;
      std::unique_ptr<Listener> listener;
      TRY(Apply(listener, own));
      lines_.push_back(std::move(listener));
    }
  }
  const std::vector<Listener*> all = All();
  if (std::none_of(all.begin(), all.end(), [](const Listener* listener) { return listener->listens(); })) {
    return Status::Io("nothing to listen on: set port and bind, tls-port, unixsocket or listen");
  }
  config_.Watch("port", [this] { return FollowPort(); });
  config_.Watch("tls-port", [this] { return FollowTlsPort(); });
  config_.Watch("bind", [this] { return FollowBind(); });
  return Ok();
}

void Ports::Start() {
  const MutexLock lock(mutex_);
  started_ = true;
  streams_->Start();
  transfers_->Start();
  transfers_->Post(LowerPriority);
  for (Listener* listener : Listed()) listener->Start();
}

// Waits for the I/O threads, which may call All().
void Ports::Stop() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
  }
  for (Listener* listener : All()) listener->Stop();
  if (transfers_ != nullptr) transfers_->Stop();
  if (streams_ != nullptr) streams_->Stop();
}

void Ports::Clear() {
  const MutexLock lock(mutex_);
  main_.reset();
  tls_.reset();
  lines_.clear();
  transfers_.reset();
  streams_.reset();
}

std::vector<Listener*> Ports::All() const {
  const MutexLock lock(mutex_);
  return Listed();
}

std::vector<Listener*> Ports::Listed() const {
  std::vector<Listener*> all;
  if (main_ != nullptr) all.push_back(main_.get());
  if (tls_ != nullptr) all.push_back(tls_.get());
  for (const auto& listener : lines_) all.push_back(listener.get());
  return all;
}

// Moves the listener to the addresses in `options`; creates it if it was not needed before.
Status Ports::Apply(std::unique_ptr<Listener>& listener, const ListenerOptions& options) {
  if (stopped_) return Status::Io("the server is stopping");
  if (listener != nullptr) return listener->Move(options.place);
  if (options.place.port == 0 && options.unix_path.empty()) return Ok();
  listener = TRY(Listener::Open(options, service_));
  if (started_) listener->Start();
  return Ok();
}

Status Ports::FollowPort() {
  const MutexLock lock(mutex_);
  const Status moved = Apply(main_, Options());
  return moved.ok() ? Ok() : Refuse(moved, kCannotListen);
}

Status Ports::FollowTlsPort() {
  const ListenerOptions options = TlsOptions();
  if (options.place.port != 0) {
    const Status built = ConfigureTls(config_, tls_settings_);
    if (!built.ok()) return Refuse(built, kCannotUpdateTls);
  }
  const MutexLock lock(mutex_);
  const Status moved = Apply(tls_, options);
  return moved.ok() ? Ok() : Refuse(moved, kCannotListen);
}

Status Ports::FollowBind() {
  const MutexLock lock(mutex_);
  const ListenPlace before = main_ == nullptr ? ListenPlace() : main_->place();
  Status moved = Apply(main_, Options());
  if (!moved.ok()) return Refuse(moved, kCannotBind);
  moved = Apply(tls_, TlsOptions());
  if (moved.ok()) return Ok();
  if (main_ != nullptr) static_cast<void>(main_->Move(before).ok());  // back to its former address
  return Refuse(moved, kCannotBind);
}

}  // namespace cairn
