// SPDX-License-Identifier: BSD-3-Clause
#include "net/io_thread.h"

#include <event2/event.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/clock.h"
#include "base/thread.h"
#include "base/tls_hello.h"
#include "net/connection.h"

namespace cairn {
namespace {

constexpr timeval kTimerPeriod{0, 100000};
constexpr int kMostTurns = 64;
constexpr size_t kMostKeptOutputs = 32;
constexpr size_t kMostKeptOutputBytes = 64 * 1024;  // of each
constexpr size_t kMostTickBytes = 4 << 20;          // of replies; then they are sent before more are made

using Connections = std::vector<std::shared_ptr<Connection>>;

// Removes and returns the connections that need not wait according to `must_wait`.
Connections TakeFree(Connections& connections, bool (*must_wait)(const Connection&)) {
  const auto waits = [must_wait](const std::shared_ptr<Connection>& connection) { return must_wait(*connection); };
  const auto first_free = std::stable_partition(connections.begin(), connections.end(), waits);
  Connections free(std::make_move_iterator(first_free), std::make_move_iterator(connections.end()));
  connections.erase(first_free, connections.end());
  return free;
}

std::atomic<uint64_t> last_connection{0};

}  // namespace

Waker::Waker(IoThread& thread) : connection_(++last_connection), thread_(&thread) {}

void Waker::Wake() {
  const MutexLock lock(mutex_);
  thread_->Post([thread = thread_, id = connection_] { thread->OnWake(id); });
}

void Waker::MoveTo(IoThread& thread) {
  const MutexLock lock(mutex_);
  thread_ = &thread;
}

IoThread::IoThread(std::string name, Service& service, RateLimit& limit, PushThreads push_threads)
    : name_(std::move(name)), service_(service), limit_(limit), push_threads_(push_threads) {
  event_config* config = event_config_new();
  event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
  base_ = event_base_new_with_config(config);
  event_config_free(config);
  wake_fd_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  const auto on_wake = [](int, short, void* self) { static_cast<IoThread*>(self)->DrainWakes(); };
  const auto on_timer = [](int, short, void* self) { static_cast<IoThread*>(self)->EverySoOften(); };
  wake_event_ = event_new(base_, wake_fd_, EV_READ | EV_PERSIST, on_wake, this);
  timer_event_ = event_new(base_, -1, EV_PERSIST, on_timer, this);
  event_add(wake_event_, nullptr);
}

IoThread::~IoThread() {
  Stop();
  RunPosted();
  for (auto& [id, connection] : connections_) connection->Shut();
  connections_.clear();
  event_free(wake_event_);
  event_free(timer_event_);
  event_base_free(base_);
  close(wake_fd_);
}

void IoThread::Start() {
  thread_ = StartThread(name_, [this] { Run(); });
}

void IoThread::Stop() {
  stopping_ = true;
  Post([] {});
  if (thread_.joinable()) thread_.join();
}

void IoThread::Post(std::function<void()> job) {
  bool was_empty;
  {
    const MutexLock lock(posted_mutex_);
    was_empty = posted_.empty();
    posted_.push_back(std::move(job));
  }
  const uint64_t one = 1;
  if (was_empty) (void)!write(wake_fd_, &one, sizeof one);
}

void IoThread::Rename(std::string name) {
  Post([name = std::move(name)] { NameThread(name); });
}

void IoThread::Run() {
  worker_ = service_.MakeWorker();
  while (!stopping_) {
    event_base_loop(base_, EVLOOP_ONCE);
    // Connections woken by a commit come before new requests, as in Redis: a chain of blocked clients is served to its
    // end, up to kMostTurns.
    for (int turn = 0; turn < kMostTurns && (turn == 0 || HasPosted()); ++turn) {
      RunPosted();
      EndTick();
    }
  }
  FinishLastTick();
}

// Commits the last tick, because slow lane jobs that still run may wait for its keys.
void IoThread::FinishLastTick() {
  EndTick();
  while (is_committing_) {
    if (!HasPosted()) {
      pollfd woken{wake_fd_, POLLIN, 0};
      (void)poll(&woken, 1, -1);
      DrainWakes();
    }
    RunPosted();
    EndTick();
  }
}

void IoThread::DrainWakes() const {
  uint64_t count;
  while (read(wake_fd_, &count, sizeof count) > 0) {
  }
}

bool IoThread::HasPosted() {
  const MutexLock lock(posted_mutex_);
  return !posted_.empty();
}

void IoThread::RunPosted() {
  std::vector<std::function<void()>> jobs;
  {
    const MutexLock lock(posted_mutex_);
    jobs.swap(posted_);
  }
  for (const std::function<void()>& job : jobs) job();
}

void IoThread::AddToTick(Connection* connection, size_t added_bytes) {
  tick_.push_back(connection->shared_from_this());
  tick_bytes_ += added_bytes;
  if (ending_tick_) return;
  const bool is_large = tick_bytes_ > kMostTickBytes;
  if (is_large || (!is_committing_ && worker_->is_worth_commit())) EndTick();
  if (is_large) event_base_loopbreak(base_);  // clients over their limits are closed before others make more replies
}

void IoThread::EndTick() {
  ending_tick_ = true;
  while (!is_committing_ && (!tick_.empty() || worker_->has_tick())) {
    auto connections = std::make_shared<std::vector<std::shared_ptr<Connection>>>();
    connections->swap(tick_);
    const CommitResult result = worker_->Commit(
        [this, connections](bool ok) { Post([this, connections, ok] { OnCommitted(*connections, ok); }); });
    if (result == CommitResult::kLater) {
      is_committing_ = true;
      const auto free = TakeFree(*connections, [](const Connection& c) { return c.has_uncommitted(); });
      for (const auto& connection : *connections) connection->AwaitCommit();
      FinishTick(free, true);
    } else {
      FinishTick(*connections, result == CommitResult::kDone);
    }
  }
  if (is_committing_) LetGoOfReaders();
  tick_bytes_ = 0;
  ending_tick_ = false;
}

// While a commit is running the next tick stays open. Connections without changes in it are finished now.
void IoThread::LetGoOfReaders() {
  FinishTick(TakeFree(tick_, [](const Connection& c) { return c.NeedsCommit(); }), true);
}

void IoThread::OnCommitted(const std::vector<std::shared_ptr<Connection>>& connections, bool ok) {
  is_committing_ = false;
  worker_->OnCommitted();
  FinishTick(connections, ok);
}

void IoThread::FinishTick(const std::vector<std::shared_ptr<Connection>>& connections, bool ok) {
  for (const auto& connection : connections) {
    if (connections_.contains(connection->id())) connection->FinishTick(ok);
  }
}

void IoThread::RunSlow(SlowJob job, std::function<void()> done) {
  ++slow_jobs_;
  job.run = [this, run = std::move(job.run), done = std::move(done)](Worker& worker) {
    run(worker);
    Post([this, done] {
      --slow_jobs_;
      done();
      RunWaiting();
    });
  };
  service_.RunSlow(std::move(job));
}

void IoThread::RunAgainSoon(Connection* connection) {
  if (has_slow_jobs()) {
    waiting_.push_back(connection->shared_from_this());
  } else {
    Post([this, keep = connection->shared_from_this()] {
      if (connections_.contains(keep->id())) keep->RunAgain();
    });
  }
}

void IoThread::RunWaiting() {
  std::vector<std::shared_ptr<Connection>> waiting;
  waiting.swap(waiting_);
  for (const auto& connection : waiting) {
    if (connections_.contains(connection->id())) connection->RunAgain();
  }
}

// The limit on clients is checked here and not on the thread, so there are never more open sockets than clients.
void IoThread::Adopt(int fd, const ConnectionOrigin& origin) {
  const auto waker = std::make_shared<Waker>(*this);
  std::string refusal;
  std::shared_ptr<Client> client = service_.Accept(origin, waker, refusal);
  if (client == nullptr) {
    // Without a TLS handshake no message can be sent.
    if (origin.tls == nullptr) (void)!send(fd, refusal.data(), refusal.size(), MSG_NOSIGNAL);
    close(fd);
    return;
  }
  Post([this, fd, waker, client = std::move(client), tls = origin.tls, peer = origin.peer] {
    auto hello = tls == nullptr ? nullptr : std::make_unique<TlsHello>(*tls, fd, peer);
    auto connection = std::make_shared<Connection>(*this, waker, fd, std::move(hello));
    Keep(connection);
    connection->Start(client);
  });
}

// Only connections need the timer; a thread without connections sleeps.
void IoThread::Keep(const std::shared_ptr<Connection>& connection) {
  if (connections_.empty()) event_add(timer_event_, &kTimerPeriod);
  connections_.emplace(connection->id(), connection);
}

std::unique_ptr<char[]> IoThread::TakeReadBuffer() {
  return read_buffer_ != nullptr ? std::move(read_buffer_) : std::make_unique_for_overwrite<char[]>(kReadBytes);
}

std::string IoThread::TakeOutput() {
  if (outputs_.empty()) return {};
  std::string output = std::move(outputs_.back());
  outputs_.pop_back();
  return output;
}

void IoThread::ReturnOutput(std::string output) {
  if (output.capacity() > kMostKeptOutputBytes || outputs_.size() >= kMostKeptOutputs) return;
  output.clear();
  outputs_.push_back(std::move(output));
}

// Posts the move, because the caller may still use the connection.
void IoThread::MoveHome(Connection* connection, Client::Pushed pushed) {
  IoThread* const home = pushed == Client::Pushed::kStream ? push_threads_.streams : push_threads_.datasets;
  if (home == nullptr) return;
  Post([this, home, keep = connection->shared_from_this()] {
    if (connections_.contains(keep->id()) && keep->may_move()) MoveOut(keep, *home);
  });
}

void IoThread::MoveOut(const std::shared_ptr<Connection>& connection, IoThread& home) {
  connections_.erase(connection->id());
  connection->LeaveFor(home);
  home.Post([&home, connection] {
    home.Keep(connection);
    connection->Arrive();
  });
}

void IoThread::Close(Connection* connection) {
  const auto found = connections_.find(connection->id());
  if (found == connections_.end()) return;
  const std::shared_ptr<Connection> keep = found->second;
  connections_.erase(found);
  keep->Shut();
}

void IoThread::OnWake(uint64_t connection) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  const std::shared_ptr<Connection> keep = found->second;
  keep->OnWake();
}

void IoThread::EverySoOften() {
  const int64_t now_us = MonotonicUs();
  std::vector<std::shared_ptr<Connection>> all;
  for (const auto& [id, connection] : connections_) all.push_back(connection);
  for (const auto& connection : all) connection->OnTimer(now_us);
  RunWaiting();
  if (connections_.empty()) event_del(timer_event_);
}

}  // namespace cairn
