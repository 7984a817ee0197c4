// SPDX-License-Identifier: BSD-3-Clause
//
// IoThread: one event loop and the connections that belong to it, for life but for those that are streamed to.
//
// A turn of the loop is a tick: every connection that had bytes is read once and its requests are run on the
// thread's worker; then the worker commits them all together; then the replies leave, one write per connection.
// Nothing here waits: a request that would have to takes its connection to the slow lane after the commit. A commit
// that would have to, or that is large, is handed over, and its connections stand still until it is done; meanwhile
// the thread runs the others, whose tick stays open until then.
//
// Thread: its own, but for Post and Stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "net/rate_limit.h"
#include "net/service.h"

struct event;
struct event_base;

namespace cairn {

class Connection;
class IoThread;

// How a connection is reached. Thread: any.
class Waker : public ConnectionWaker {
 public:
  explicit Waker(IoThread& thread);
  void Wake() override;
  // From here on the connection is to be found on this thread. Thread: the one that had it.
  void MoveTo(IoThread& thread);
  // What its threads know the connection by.
  uint64_t connection() const { return connection_; }

 private:
  const uint64_t connection_;
  std::mutex mutex_;  // is held while the thread is posted to
  IoThread* thread_;  // guarded by mutex_
};

class IoThread {
 public:
  // Threads that have connections by what is pushed to them, and outlive this one. Null: such connections stay.
  struct PushThreads {
    IoThread* datasets = nullptr;
    IoThread* streams = nullptr;
  };

  IoThread(std::string name, Service& service, RateLimit& limit, PushThreads push_threads);
  ~IoThread();

  void Start();
  // Ends the loop after the current tick, closes all connections and joins the thread.
  void Stop();
  // Runs `job` on the thread, soon. Any thread.
  void Post(std::function<void()> job);
  // What the thread is called from now on. Any thread.
  void Rename(std::string name);
  // Takes over an accepted socket, or closes it when the service refuses its client. Any thread.
  void Adopt(int fd, const ConnectionOrigin& origin);

  // ---- of its connections
  event_base* base() { return base_; }
  Worker& worker() { return *worker_; }
  // One buffer that its connections read into, in turn, so that those with nothing half read hold none.
  static constexpr size_t kReadBytes = 16 * 1024;
  std::unique_ptr<char[]> TakeReadBuffer();
  void ReturnReadBuffer(std::unique_ptr<char[]> buffer) { read_buffer_ = std::move(buffer); }
  // The same for replies: an empty string, with the memory of one that was returned if there is one.
  std::string TakeOutput();
  void ReturnOutput(std::string output);
  Service& service() { return service_; }
  RateLimit& limit() { return limit_; }
  // The connection has replies, or wants something, at the end of the tick.
  // `added_bytes` is the size of those replies.
  void AddToTick(Connection* connection, size_t added_bytes);
  void Close(Connection* connection);
  // Runs the job on the slow lane, then `done` here.
  void RunSlow(std::function<void(Worker&)> job, std::function<void()> done);
  // A job given to RunSlow is not done yet.
  bool has_slow_jobs() const { return slow_jobs_ > 0; }
  // Calls connection->RunAgain() when a slow job or a turn of the loop is over, whatever comes first.
  void RunAgainSoon(Connection* connection);
  void OnWake(uint64_t connection);
  // The connection goes to the thread that has those of its kind, as soon as it is at rest.
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
  // Takes the connection over. The timer runs while there are connections.
  void Keep(const std::shared_ptr<Connection>& connection);
  void RunWaiting();
  void MoveOut(const std::shared_ptr<Connection>& connection, IoThread& home);

  const std::string name_;  // at its start
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
  std::unique_ptr<char[]> read_buffer_;  // null: a connection has it
  std::vector<std::string> outputs_;
  size_t tick_bytes_ = 0;  // of replies since the last end of a tick
  int slow_jobs_ = 0;
  std::vector<std::shared_ptr<Connection>> waiting_;  // to run again when a slow job is done
  bool ending_tick_ = false;
  bool is_committing_ = false;  // a commit was handed over and is not done

  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_;  // guarded by posted_mutex_
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace cairn
