// SPDX-License-Identifier: BSD-3-Clause
//
// Service: the narrow interface through which net/ calls commands. net/ handles bytes, connections, threads and lanes;
// the other side handles the meaning of requests.
//
// A Worker runs requests. Each I/O thread has one for the fast lane, and each slow lane thread has one. A fast lane
// worker's writes become visible, and its replies may be sent, after a successful Commit; a slow lane worker commits
// each request separately.
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

// The content of a connection's buffers, and their memory.
struct BufferUse {
  uint64_t unread_bytes = 0;    // of requests
  uint64_t argument_bytes = 0;  // of the request being read
  uint64_t query_capacity = 0;
  uint64_t unsent_bytes = 0;  // of replies
  uint64_t output_capacity = 0;
  uint64_t tls_bytes = 0;
  bool in_handshake = false;
};

enum class RunResult : unsigned char {
  kDone,       // the reply is in `out`
  kWouldWait,  // nothing has happened; a slow lane worker must run the same request
  kParked,     // no reply yet; call Resume when the client is woken or its deadline passes
  kPaused,     // throttled (CLIENT PAUSE); run it again at the client's deadline
  kClose,      // as kDone, but close the connection after the reply is sent
  kAbort,      // close the connection at once
};

// The client of one connection. Thread: the connection's current lane, unless a function says otherwise.
class Client {
 public:
  virtual ~Client() = default;
  virtual RequestLimits request_limits() const = 0;
  // Deadline of a parked or paused client in monotonic microseconds; 0: none.
  virtual int64_t deadline_us() const = 0;
  // What another thread asks the connection to do.
  enum class Wish : unsigned char { kNone, kCloseAfterReply, kCloseNow, kResume };
  virtual Wish TakeWish() = 0;
  // Appends the messages that were pushed to this client since the last call, always whole ones. The client's waker is
  // called when the first message arrives after none.
  virtual void TakePushed(std::string& out) = 0;
  // Called after output was added and every tenth of a second; true: the client must be closed.
  virtual bool ExceedsOutputLimit(uint64_t unsent_bytes, int64_t now_us) = 0;
  // With more unsent bytes than this, no further request runs until the client has read half of them.
  virtual uint64_t most_unsent_bytes() const = 0;
  // Called after bytes were received; true: the client must be closed.
  virtual bool ExceedsQueryLimit(uint64_t pending_bytes) = 0;
  virtual bool IsIdleTooLong(int64_t now_us) const = 0;
  // Whether its time for the handshake and authentication is over.
  virtual bool IsLoginOverdue(int64_t now_us, bool in_handshake) const = 0;
  virtual void NoteBuffers(const BufferUse& use) = 0;
  // The kind of output besides replies. A whole data set, or an endless stream, is sent by threads of its own, so that
  // other connections need not wait for it.
  enum class Pushed : unsigned char { kMessages, kDataset, kStream };
  virtual Pushed pushed() const = 0;
  // The connection has ended; no other function is called after this.
  virtual void OnClosed() = 0;
};

enum class CommitResult : unsigned char { kDone, kFailed, kLater };

class Worker {
 public:
  virtual ~Worker() = default;
  // Large arguments may be overwritten with zeros, unless it returns kWouldWait or kPaused.
  virtual RunResult Run(Client& client, std::span<const std::string_view> argv, std::string& out) = 0;
  // Runs the parked request again, or ends its wait if its deadline has passed or another thread asked for that.
  virtual RunResult Resume(Client& client, std::string& out) = 0;
  // The row that the last Run lacked in memory when it returned kWouldWait; empty: it waits for something else. A write
  // may Run here again after a slow lane worker has fetched the row; a read goes to the slow lane as a whole.
  struct MissingRow {
    std::string row;
    bool on_its_way = false;  // the kernel reads it already
  };
  virtual MissingRow TakeMissing() = 0;
  virtual void Fetch(std::string_view missing) = 0;
  // Starts the disk reads of the request's keys that are not in memory, if it has at least `least_keys`.
  virtual void ReadAhead(const Client& client, std::span<const std::string_view> argv, size_t least_keys) = 0;
  // The last Run returned kWouldWait because another thread holds a key: it may Run again a little later.
  virtual bool met_lock() const = 0;
  // Whether the last request may change data.
  virtual bool is_write() const = 0;
  // Whether this request may change data, or wake other clients.
  virtual bool MayChange(const Client& client, std::span<const std::string_view> argv) = 0;
  // Whether the last Run or Resume changed data or saw an uncommitted change; its reply must then follow the commit.
  virtual bool wrote() const = 0;
  // Whether the last request touched a key that a client waits for: the tick should end now.
  virtual bool wakes_others() const = 0;
  // Whether the tick holds changes or keys that a Commit would release.
  virtual bool has_tick() const = 0;
  // Whether the tick is worth its own commit: it may end between two connections, written while the next runs.
  virtual bool is_worth_commit() const = 0;
  // Whether the tick is so large that it should end now.
  virtual bool is_full() const = 0;
  // Ends the tick. kLater: `done` is called on any thread, with whether it succeeded. Until OnCommitted the worker may
  // run other clients' requests, but clients whose replies wait must not continue, and Commit must not be called.
  virtual CommitResult Commit(std::function<void(bool ok)> done) = 0;
  // Called on the worker's thread after `done` was called.
  virtual void OnCommitted() = 0;
  // The error reply for a request whose commit failed.
  virtual std::string commit_error() const = 0;
  virtual void NoteRead(Client& client, uint64_t bytes) = 0;
  virtual void NoteWritten(Client& client, uint64_t bytes) = 0;
};

// Reaches a connection from outside. Thread: any.
class ConnectionWaker {
 public:
  virtual ~ConnectionWaker() = default;
  // Makes the connection's thread ask for the client's wish. Must not wait.
  virtual void Wake() = 0;
};

struct ConnectionOrigin {
  std::string peer;  // "127.0.0.1:50000", "[::1]:50000" or "/path:0"
  std::string local;
  int fd = -1;
  bool is_unix = false;
  bool is_loopback = false;
  bool read_only = false;
  const Tls* tls = nullptr;  // null: no TLS
};

// The message to a client that exceeds maxclients.
inline constexpr std::string_view kTooManyClients = "-ERR max number of clients reached\r\n";

// Work for the slow lane.
struct SlowJob {
  std::string row;        // the row that it will read, so that this read can start earlier; empty: not known
  bool is_write = false;  // it begins with a request that may change data
  std::function<void(Worker&)> run;
};

class Service {
 public:
  virtual ~Service() = default;
  // Called on the thread that uses the worker.
  virtual std::unique_ptr<Worker> MakeWorker() = 0;
  // Null: refuse the connection after sending it `refusal`.
  virtual std::shared_ptr<Client> Accept(const ConnectionOrigin& origin, std::shared_ptr<ConnectionWaker> waker,
                                         std::string& refusal) = 0;
  // Runs the job on a thread of the slow lane.
  virtual void RunSlow(SlowJob job) = 0;
};

}  // namespace cairn
