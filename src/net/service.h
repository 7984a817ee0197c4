// SPDX-License-Identifier: BSD-3-Clause
//
// Service: the narrow interface through which net/ calls commands. net/ moves bytes and knows connections,
// threads and lanes; what a request means is on the other side.
//
// A Worker runs requests. Each I/O thread has one for the fast lane, and so has each thread of the slow lane.
// What a fast lane worker has written becomes visible, and its replies may leave, when Commit says so; a slow
// lane worker commits each request by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "resp/request_parser.h"

namespace cairn {

class Tls;

// What a connection's buffers hold, and the memory they take.
struct BufferUse {
  uint64_t unread_bytes = 0;    // of requests
  uint64_t argument_bytes = 0;  // of the request that is being read
  uint64_t query_capacity = 0;
  uint64_t unsent_bytes = 0;  // of replies
  uint64_t output_capacity = 0;
  uint64_t tls_bytes = 0;
  bool in_handshake = false;
};

enum class RunResult : unsigned char {
  kDone,       // the reply is in `out`
  kWouldWait,  // nothing has happened; the same request is to be run by a slow lane worker
  kParked,     // no reply yet; Resume when the client is woken or its deadline has passed
  kPaused,     // held back (CLIENT PAUSE); run it again at the client's deadline
  kClose,      // as kDone, and the connection ends when the reply has left
  kAbort,      // the connection ends at once
};

// One connection's client. Thread: the connection's current lane, unless said otherwise.
class Client {
 public:
  virtual ~Client() = default;
  virtual RequestLimits request_limits() const = 0;
  // Monotonic microseconds; 0: none. Of a parked or paused client.
  virtual int64_t deadline_us() const = 0;
  // What another thread wants of this connection.
  enum class Wish : unsigned char { kNone, kCloseAfterReply, kCloseNow, kResume };
  virtual Wish TakeWish() = 0;
  // Appends what others have pushed to this client, whole messages, since it was last asked. The client's waker is
  // called when there is something after there was nothing.
  virtual void TakePushed(std::string& out) = 0;
  // Asked after output was added or a tenth of a second went by; true: the client must go.
  virtual bool ExceedsOutputLimit(uint64_t unsent_bytes, int64_t now_us) = 0;
  // With more unsent bytes than this no further request of it is run, until it has read half of them.
  virtual uint64_t most_unsent_bytes() const = 0;
  // Asked after bytes came in; true: the client must go.
  virtual bool ExceedsQueryLimit(uint64_t pending_bytes) const = 0;
  virtual bool IsIdleTooLong(int64_t now_us) const = 0;
  // It has had its time for the handshake and to authenticate.
  virtual bool IsLoginOverdue(int64_t now_us, bool in_handshake) const = 0;
  virtual void NoteBuffers(const BufferUse& use) = 0;
  // What it is sent beside replies. A whole data set, and a stream without end, are for threads of their own: others
  // should not have to take turns with them.
  enum class Pushed : unsigned char { kMessages, kDataset, kStream };
  virtual Pushed pushed() const = 0;
  // The connection is gone; nothing will be called any more.
  virtual void OnClosed() = 0;
};

enum class CommitResult : unsigned char { kDone, kFailed, kLater };

class Worker {
 public:
  virtual ~Worker() = default;
  virtual RunResult Run(Client& client, std::span<const std::string_view> argv, std::string& out) = 0;
  // Runs the parked request again, or ends its wait when its deadline has passed or somebody asked to.
  virtual RunResult Resume(Client& client, std::string& out) = 0;
  // What the last Run, which was kWouldWait, lacked in memory: once a slow lane worker has Fetched it, the request may
  // be Run again here. Empty: the request itself is for the slow lane.
  virtual std::string TakeMissing() = 0;
  virtual void Fetch(std::string_view missing) = 0;
  // The last Run, which was kWouldWait, met a key that somebody else is changing: it may be Run again a little later.
  virtual bool met_lock() const = 0;
  // The last request is one that may change data.
  virtual bool is_write() const = 0;
  // The last Run or Resume changed data or saw a change that is not committed, so its reply must not leave before
  // the commit.
  virtual bool wrote() const = 0;
  // The last one touched a key somebody waits for: the tick should end now.
  virtual bool wakes_others() const = 0;
  // The tick holds something, changes or keys, that a Commit would let go.
  virtual bool has_tick() const = 0;
  // The tick is worth a commit of its own: it may end between two connections and be written while the next one runs.
  virtual bool is_worth_commit() const = 0;
  // The tick has grown so large that it should end now.
  virtual bool is_full() const = 0;
  // Ends the tick. kLater: `done` is called, on any thread, with whether it succeeded; until OnCommitted the worker
  // may run other clients' requests, but those whose replies wait must not go on, and Commit must not be called.
  virtual CommitResult Commit(std::function<void(bool ok)> done) = 0;
  // Told on the worker's thread after `done` was called.
  virtual void OnCommitted() = 0;
  // The error reply for a request whose commit failed.
  virtual std::string commit_error() const = 0;
  virtual void NoteRead(Client& client, uint64_t bytes) = 0;
  virtual void NoteWritten(uint64_t bytes) = 0;
};

// How the outside reaches a connection. Thread: any.
class ConnectionWaker {
 public:
  virtual ~ConnectionWaker() = default;
  // The connection's thread will ask for the client's wish. Must not wait.
  virtual void Wake() = 0;
};

struct ConnectionOrigin {
  std::string peer;  // "127.0.0.1:50000", "[::1]:50000" or "/path:0"
  std::string local;
  int fd = -1;
  bool is_unix = false;
  bool is_loopback = false;
  bool read_only = false;
  const Tls* tls = nullptr;  // null: it speaks plainly
};

// The last words to a client there is no room for.
inline constexpr std::string_view kTooManyClients = "-ERR max number of clients reached\r\n";

class Service {
 public:
  virtual ~Service() = default;
  // Made on the thread that will use it.
  virtual std::unique_ptr<Worker> MakeWorker() = 0;
  // Null refuses the connection, with `refusal` as its last words.
  virtual std::shared_ptr<Client> Accept(const ConnectionOrigin& origin, std::shared_ptr<ConnectionWaker> waker,
                                         std::string& refusal) = 0;
  // Runs the job on a thread of the slow lane.
  virtual void RunSlow(std::function<void(Worker&)> job) = 0;
};

}  // namespace cairn
