// SPDX-License-Identifier: BSD-3-Clause
//
// IoThread: one event loop and its connections. They stay for life, except push connections (PushThreads).
//
// A turn of the loop is a tick: every connection with input is read once and its requests run on the thread's worker;
// then the worker commits all of them together; then the replies are sent, one write per connection. Nothing here
// waits. A request that would have to wait moves its connection to the slow lane after the commit. A commit that would
// have to wait, or is large, is handed over, and its connections wait until it is done; meanwhile the thread serves
// the others, whose tick stays open until then.
//
// Thread: its own, except for Post and Stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "net/rate_limit.h"
#include "net/service.h"

struct event;
struct event_base;

namespace cairn {

class Connection;
class IoThread;

// Reaches a connection from other threads. Thread: any.
class Waker : public ConnectionWaker {
 public:
  explicit Waker(IoThread& thread);
  void Wake() override;
  // The connection is on `thread` from now on. Thread: its previous one.
  void MoveTo(IoThread& thread);
  // The connection's id on its threads.
  uint64_t connection() const { return connection_; }

 private:
  const uint64_t connection_;
  Mutex mutex_;  // held while posting to the thread
  IoThread* thread_ ABSL_GUARDED_BY(mutex_);
};

class IoThread {
 public:
  // Threads for connections with a certain kind of pushed output. They outlive this one. Null: they stay here.
  struct PushThreads {
    IoThread* datasets = nullptr;
    IoThread* streams = nullptr;
  };

  IoThread(std::string name, Service& service, RateLimit& limit, PushThreads push_threads);
  ~IoThread();

  void Start();
  // Ends the loop after the current tick, closes all connections and joins the thread.
  void Stop();
  // Runs `job` on the thread soon. Any thread.
  void Post(std::function<void()> job);
  // Changes the thread's name. Any thread.
  void Rename(std::string name);
  // Takes over an accepted socket, or closes it if the service refuses the client. Any thread.
  void Adopt(int fd, const ConnectionOrigin& origin);

  // ---- for its connections
  event_base* base() { return base_; }
  Worker& worker() { return *worker_; }
  // One read buffer shared by the connections in turn, so that a connection without a partial request has none.
  static constexpr size_t kReadBytes = 16 * 1024;
  std::unique_ptr<char[]> TakeReadBuffer();
  void ReturnReadBuffer(std::unique_ptr<char[]> buffer) { read_buffer_ = std::move(buffer); }
  // The same for replies: an empty string, with the memory of a returned one if possible.
  std::string TakeOutput();
  void ReturnOutput(std::string output);
  Service& service() { return service_; }
  RateLimit& limit() { return limit_; }
  // The connection has replies, or a wish, for the end of the tick. `added_bytes`: the size of these replies.
  void AddToTick(Connection* connection, size_t added_bytes);
  void Close(Connection* connection);
  // Runs the job on the slow lane, then `done` here.
  void RunSlow(SlowJob job, std::function<void()> done);
  // Whether the previous tick is being committed.
  bool is_committing() const { return is_committing_; }
  // Whether a job of RunSlow is still running.
  bool has_slow_jobs() const { return slow_jobs_ > 0; }
  // Calls connection->RunAgain() after a slow job or a turn of the loop, whichever is first.
  void RunAgainSoon(Connection* connection);
  void OnWake(uint64_t connection);
  // Moves the connection to the thread for its kind as soon as it is at rest.
  void MoveHome(Connection* connection, Client::Pushed pushed);

 private:
  void Run();
  void FinishLastTick();
  void DrainWakes() const;
  bool HasPosted();
  void RunPosted();
  void EndTick();
  void LetGoOfReaders();
  void OnCommitted(const std::vector<std::shared_ptr<Connection>>& connections, bool ok);
  void FinishTick(const std::vector<std::shared_ptr<Connection>>& connections, bool ok);
  void EverySoOften();
  // Adds the connection. The timer runs while there are connections.
  void Keep(const std::shared_ptr<Connection>& connection);
  void RunWaiting();
  void MoveOut(const std::shared_ptr<Connection>& connection, IoThread& home);

  const std::string name_;  // its first name
  Service& service_;
  RateLimit& limit_;
  const PushThreads push_threads_;
  event_base* base_ = nullptr;
  event* wake_event_ = nullptr;
  event* timer_event_ = nullptr;
  int wake_fd_ = -1;
  std::unique_ptr<Worker> worker_;
  std::unordered_map<uint64_t, std::shared_ptr<Connection>> connections_;
  std::vector<std::shared_ptr<Connection>> tick_;
  std::unique_ptr<char[]> read_buffer_;  // null: in use by a connection
  std::vector<std::string> outputs_;
  size_t tick_bytes_ = 0;  // of replies since the last end of a tick
  int slow_jobs_ = 0;
  std::vector<std::shared_ptr<Connection>> waiting_;  // to run again after a slow job
  bool ending_tick_ = false;
  bool is_committing_ = false;  // a commit was handed over and is not done yet

  Mutex posted_mutex_;
  std::vector<std::function<void()>> posted_ ABSL_GUARDED_BY(posted_mutex_);
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace cairn
