// SPDX-License-Identifier: BSD-3-Clause
//
// Connection: a socket, perhaps with TLS on it, its bytes in and out, and where its requests are being run.
//
//   kReading     on its I/O thread, fast lane
//   kInTick      it ran something; its replies wait for the end of the tick
//   kCommitting  the tick's commit was handed over; nothing moves until it is done
//   kSlow        a slow lane thread has it: parser, output and client belong to that thread until it posts back
//   kParked      its request waits for a key, a pause or the qps limit; bytes may come in but are not looked at
//
// Thread: its I/O thread, except while it is kSlow.
#pragma once

#include <algorithm>
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

// How long the query buffer of a connection has had no need of its size.
class QueryBufferUse {
 public:
  void NoteRead(size_t pending_bytes) {
    idle_ticks_ = 0;
    largest_ = std::max(largest_, pending_bytes);
  }
  // The timer came by. Returns the bytes that the buffer may keep.
  size_t EndTick() {
    if (std::exchange(largest_, 0) > kKeptBytes) return SIZE_MAX;
    return idle_ticks_++ < kIdleTicks ? kKeptBytes : 0;
  }
  // A buffer of up to kKeptBytes goes when its client has been idle for kIdleTicks, a larger one after a tick in which
  // nothing needed it.
  static constexpr size_t kKeptBytes = 64 * 1024;

 private:
  static constexpr int kIdleTicks = 20;

  int idle_ticks_ = 0;
  size_t largest_ = 0;  // bytes that were pending at once since the last tick
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `waker` is its own. Without `hello` it speaks plainly.
  Connection(IoThread& thread, std::shared_ptr<Waker> waker, int fd, std::unique_ptr<TlsHello> hello);
  ~Connection();

  // Starts reading. `client` is what Service::Accept gave.
  void Start(std::shared_ptr<Client> client);
  uint64_t id() const { return waker_->connection(); }
  Client& client() { return *client_; }

  // The end of the tick in which it ran something: sends, and goes where its last request left it.
  void FinishTick(bool committed);
  // A reply of its waits for the commit of the tick.
  bool has_uncommitted() const { return out_.has_uncommitted(); }
  // Whether it has to wait for the end of the tick.
  bool NeedsCommit() const;
  // The tick's commit was handed over.
  void AwaitCommit() { state_ = State::kCommitting; }
  // What its request was waiting for is over.
  void RunAgain() { RunRequests(resumes_); }
  // Somebody wants something of it.
  void OnWake();
  // Bytes of replies that wait for the end of the tick or to be taken.
  size_t unsent() const { return out_.unsent_size(); }
  // Ten times a second.
  void OnTimer(int64_t now_us);
  // It has nothing in hand on its thread, so it may go to another: LeaveFor there, then Arrive on that one.
  bool may_move() const { return state_ == State::kReading && next_ == Next::kRead && !close_after_reply_; }
  void LeaveFor(IoThread& thread);
  void Arrive();
  // Closes the socket and lets the client go. REQUIRES: not kSlow.
  void Shut();
  bool is_shut() const { return !events_.exist(); }

 private:
  enum class State : unsigned char { kReading, kInTick, kCommitting, kSlow, kParked };
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
  bool AwaitsWritable() const { return tls_ == nullptr ? unsent() > 0 : tls_->needs_writable(unsent() > 0); }
  void RunRequests(bool resume);
  Next RunBatch(Worker& worker, bool slow, bool resume);
  Next RunOne(Worker& worker, bool resume);
  Next WayToWait(Worker& worker);
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
  std::unique_ptr<TlsHello> hello_;  // null: it is over, or there is none
  std::unique_ptr<TlsStream> tls_;   // null: none, or none yet
  State state_ = State::kReading;
  Next next_ = Next::kRead;
  std::shared_ptr<Client> client_;
  RequestParser parser_;
  bool is_buffer_lent_ = false;  // the parser's is the thread's, for the time of a read and its requests
  OutputBuffer out_;
  SocketEvents events_;
  bool awaits_reader_ = false;  // runs nothing until its client has read some of its replies
  bool has_request_ = false;    // parser_.argv() is yet to be run
  bool resumes_ = false;        // the parked request is to be run again
  bool is_parked_on_client_ = false;
  bool wake_pending_ = false;  // woken before it had come to rest
  bool close_after_reply_ = false;
  bool close_now_ = false;
  std::string missing_;  // what its request waits for to be in memory
  int fetches_ = 0;      // in a row
  int retries_ = 0;      // of its request
  QueryBufferUse query_use_;
  unsigned char requests_before_login_ = 0;  // since it had to pause
  int64_t throttle_us_ = 0;                  // how long the qps limit holds it back
};

}  // namespace cairn
