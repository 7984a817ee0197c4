// SPDX-License-Identifier: BSD-3-Clause
//
// Connection: a socket, possibly with TLS, its input and output bytes, and the place where its requests run.
//
//   kReading     on its I/O thread, fast lane
//   kInTick      it has run a request; its replies wait for the end of the tick
//   kCommitting  the tick's commit was handed over; the connection waits for it
//   kSlow        on a slow lane thread, which owns parser, output and client until it posts the connection back
//   kParked      its request waits for a key, a pause or the qps limit; bytes that arrive are not parsed
//
// A client may close its side, or the whole connection, right after its last request: received requests run before the
// next read, which closes the connection at the end of the stream (MustRunBeforeRead). As in Redis, two kinds of
// requests are dropped then: one that a pause holds back, and those behind a blocked command.
//
// Thread: its I/O thread, except in kSlow.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/tls_hello.h"
#include "base/tls_stream.h"
#include "net/io_thread.h"
#include "net/output_buffer.h"
#include "net/service.h"
#include "net/socket_events.h"
#include "resp/request_parser.h"

namespace cairn {

// Tracks for how long a connection has not needed its query buffer's size.
class QueryBufferUse {
 public:
  void NoteRead(size_t pending_bytes) {
    idle_ticks_ = 0;
    largest_ = std::max(largest_, pending_bytes);
  }
  // Called by the timer. Returns the number of bytes that the buffer may keep.
  size_t EndTick() {
    if (std::exchange(largest_, 0) > kKeptBytes) return SIZE_MAX;
    return idle_ticks_++ < kIdleTicks ? kKeptBytes : 0;
  }
  // A buffer of up to kKeptBytes is freed when its client was idle for kIdleTicks, a larger one after one tick in
  // which it was not needed.
  static constexpr size_t kKeptBytes = 64 * 1024;

 private:
  static constexpr int kIdleTicks = 20;

  int idle_ticks_ = 0;
  size_t largest_ = 0;  // most bytes pending at once since the last tick
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `waker` belongs to the connection. Without `hello` there is no TLS.
  Connection(IoThread& thread, std::shared_ptr<Waker> waker, int fd, std::unique_ptr<TlsHello> hello);
  ~Connection();

  // Starts reading. `client` comes from Service::Accept.
  void Start(std::shared_ptr<Client> client);
  uint64_t id() const { return waker_->connection(); }
  Client& client() { return *client_; }

  // Ends the tick in which it ran requests: sends the replies, then continues as its last request requires.
  void FinishTick(bool committed);
  // Whether a reply waits for the tick's commit.
  bool has_uncommitted() const { return out_.has_uncommitted(); }
  // Whether the connection must wait for the end of the tick.
  bool NeedsCommit() const;
  // Called when the tick's commit was handed over.
  void AwaitCommit() { state_ = State::kCommitting; }
  // Called when the wait of its request is over.
  void RunAgain() { RunRequests(resumes_); }
  // Called when another thread has a wish for it (Client::Wish).
  void OnWake();
  // Bytes of replies that are not sent yet.
  size_t unsent() const { return out_.unsent_size(); }
  // Called ten times a second.
  void OnTimer(int64_t now_us);
  // Whether no request is in progress on its thread. Then it may move: LeaveFor on the old thread, Arrive on the new
  // one.
  bool may_move() const { return state_ == State::kReading && next_ == Next::kRead && !close_after_reply_; }
  void LeaveFor(IoThread& thread);
  void Arrive();
  // Closes the socket and releases the client. REQUIRES: not kSlow.
  void Shut();
  bool is_shut() const { return !events_.exist(); }

 private:
  enum class State : unsigned char { kReading, kInTick, kCommitting, kSlow, kParked };
  // What its requests need from the disk.
  struct DiskReads {
    Worker::MissingRow missing;  // by the current request
    size_t requests_ahead = 0;   // the reads of this many of the next requests were started
    int fetches = 0;             // in succession
    bool is_write = false;       // the current request waits for the slow lane and may change data
  };
  enum class Next : unsigned char { kRead, kRunMore, kAwaitReader, kFetch, kRetry, kGoSlow, kPark, kClose };

  static void OnReadable(int fd, short what, void* self);
  static void OnWritable(int fd, short what, void* self);
  static void OnDeadline(int fd, short what, void* self);
  void MakeEvents();
  char* MakeRoom();
  void ReturnReadBuffer();
  bool BeginTls();
  bool in_handshake() const { return hello_ != nullptr || (tls_ != nullptr && tls_->in_handshake()); }
  bool ReadSocket();
  bool HasReceivedRequests() const;
  bool MustRunBeforeRead() const;
  bool HasLeftPause() const;
  bool AwaitsWritable() const { return tls_ == nullptr ? unsent() > 0 : tls_->needs_writable(unsent() > 0); }
  void RunRequests(bool resume);
  Next RunBatch(Worker& worker, bool slow, bool resume);
  Next RunOne(Worker& worker, bool resume);
  Next WayToWait(Worker& worker);
  bool MustAwaitTick(Worker& worker, bool slow, bool resume);
  void ReadAhead(Worker& worker);
  std::string RowToReadAhead() const { return disk_.missing.on_its_way ? std::string() : disk_.missing.row; }
  void Fetch();
  void GoSlow();
  void Proceed();
  bool Flush();
  bool ExceedsOutputLimit();
  void WatchRead(bool on);
  void Park();
  void NoteBuffers();
  bool is_at_rest() const { return state_ == State::kReading || state_ == State::kParked; }
  void SendPushed();
  void MoveHome();
  void GoOnAfterReader();
  void Close();

  IoThread* thread_;
  const std::shared_ptr<Waker> waker_;
  const int fd_;
  std::unique_ptr<TlsHello> hello_;  // null: the TLS handshake has begun, or there is no TLS
  std::unique_ptr<TlsStream> tls_;   // null: no TLS, or not begun
  State state_ = State::kReading;
  Next next_ = Next::kRead;
  std::shared_ptr<Client> client_;
  RequestParser parser_;
  bool is_buffer_lent_ = false;  // the parser uses the thread's buffer, for one read and its requests
  OutputBuffer out_;
  SocketEvents events_;
  bool awaits_reader_ = false;  // runs no request until its client has read some replies
  bool is_at_end_ = false;      // the stream ended while it awaited its reader
  bool has_request_ = false;    // parser_.argv() must still run
  bool resumes_ = false;        // the parked request must run again
  bool is_parked_on_client_ = false;
  bool wake_pending_ = false;  // woken before it was at rest
  // Set by the thread that runs requests, and by the I/O thread meanwhile (OnWake).
  std::atomic<bool> close_after_reply_{false};
  std::atomic<bool> close_now_{false};
  DiskReads disk_;
  int retries_ = 0;  // of the current request
  QueryBufferUse query_use_;
  unsigned char requests_before_login_ = 0;  // since its last pause
  int64_t throttle_us_ = 0;                  // delay by the qps limit
};

}  // namespace cairn
