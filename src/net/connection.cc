// SPDX-License-Identifier: BSD-3-Clause
#include "net/connection.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "base/assert.h"
#include "base/clock.h"
#include "resp/reply.h"

namespace cairn {
namespace {

constexpr size_t kReadBytes = IoThread::kReadBytes;
constexpr size_t kMostFittedBytes = 4 * 1024;  // fewer pending bytes get a buffer of their size
constexpr size_t kMostReadBytes = 4 * 1024 * 1024;
constexpr size_t kMostSentBytes = 128 * 1024;   // per turn: others must be served while a peer takes gigabytes
constexpr size_t kMostKeptBytes = 1024 * 1024;  // of a query buffer; a larger one is freed at once
constexpr size_t kHandshakeBytes = 64 * 1024;   // what OpenSSL allocates for a handshake, and for an idle connection
constexpr size_t kTlsBytes = 16 * 1024;
constexpr size_t kUnlimitedBytes = 16 * 1024;  // of a client's replies; not counted by output limits
constexpr size_t kMostRequestsAhead = 64;      // of a pipeline, whose disk reads are started before they run
constexpr int kMostFetches = 2;  // in succession; a client that keeps asking for cold rows is moved to the slow lane
// How often a request tries to lock a key that is held: by a slow request of this thread, or by another thread.
constexpr int kMostTriesAfterSlow = 64;
constexpr int kMostTries = 2;
constexpr size_t kMostTurnReplies = 512 * 1024;  // of the fast lane; then other connections are served
// A client that has not authenticated may make this many requests before a pause: refusals cost time too.
constexpr unsigned char kBurstBeforeLogin = 16;
constexpr int64_t kPauseBeforeLoginUs = 1000000;
constexpr size_t kMostSlowReplies = 1024 * 1024;  // a slow lane batch returns to send its replies at this size

}  // namespace

Connection::Connection(IoThread& thread, std::shared_ptr<Waker> waker, int fd, std::unique_ptr<TlsHello> hello)
    : thread_(&thread), waker_(std::move(waker)), fd_(fd), hello_(std::move(hello)) {
  MakeEvents();
}

Connection::~Connection() { ASSERT(!events_.exist(), "a connection is shut before it is destroyed"); }

// Wake-ups sent before the thread kept the connection have not reached it, so it looks for them; here and in Arrive.
void Connection::Start(std::shared_ptr<Client> client) {
  client_ = std::move(client);
  WatchRead(true);
  NoteBuffers();
  OnWake();
}

void Connection::LeaveFor(IoThread& thread) {
  events_.Free();
  thread_ = &thread;
  waker_->MoveTo(thread);
}

void Connection::Arrive() {
  MakeEvents();
  WatchRead(true);
  events_.WatchWrite(AwaitsWritable());
  OnWake();
}

void Connection::MakeEvents() { events_.Make(thread_->base(), fd_, {&OnReadable, &OnWritable, &OnDeadline, this}); }

void Connection::Shut() {
  events_.Free();
  tls_.reset();
  close(fd_);
  if (client_ != nullptr) client_->OnClosed();
}

void Connection::Close() { thread_->Close(this); }

// ---- events

void Connection::WatchRead(bool on) {
  events_.WatchRead(on);
  if (on && tls_ != nullptr && tls_->has_more()) events_.ReadSoon();
}

void Connection::OnReadable(int, short, void* self) {
  auto* connection = static_cast<Connection*>(self);
  const std::shared_ptr<Connection> keep = connection->shared_from_this();
  if (connection->state_ != State::kReading && connection->state_ != State::kParked) {
    connection->WatchRead(false);  // Proceed turns it on again
    return;
  }
  if (!connection->BeginTls()) return;
  if (!connection->MustRunBeforeRead() && !connection->ReadSocket()) return;
  if (connection->state_ == State::kReading && !connection->awaits_reader_) {
    connection->RunRequests(false);
  } else {
    connection->ReturnReadBuffer();
    connection->NoteBuffers();
    connection->WatchRead(!connection->is_at_end_);
    connection->events_.WatchWrite(connection->AwaitsWritable());
  }
}

void Connection::OnWritable(int fd, short what, void* self) {
  auto* connection = static_cast<Connection*>(self);
  const std::shared_ptr<Connection> keep = connection->shared_from_this();
  if (connection->has_uncommitted()) {
    connection->events_.WatchWrite(false);  // FinishTick sends the bytes
    return;
  }
  if (!connection->Flush()) return;
  if (connection->unsent() == 0 && connection->close_after_reply_ && connection->state_ == State::kReading) {
    connection->Close();
  } else if (connection->tls_ != nullptr && connection->tls_->read_wants_write()) {
    if (connection->is_at_rest() && connection->events_.watches_read()) {
      OnReadable(fd, what, self);
    } else {
      connection->events_.WatchWrite(false);  // the next Flush turns it on again
    }
  }
  connection->GoOnAfterReader();
}

void Connection::OnDeadline(int, short, void* self) {
  auto* connection = static_cast<Connection*>(self);
  const std::shared_ptr<Connection> keep = connection->shared_from_this();
  if (connection->state_ == State::kParked) connection->RunRequests(connection->is_parked_on_client_);
}

// Makes room for the next read; null if there is no memory. A large buffer grows only for an argument that fills it.
char* Connection::MakeRoom() try {
  if (parser_.capacity() <= kMostFittedBytes) {
    parser_.UseBuffer(thread_->TakeReadBuffer(), kReadBytes);
    is_buffer_lent_ = true;
    return parser_.Reserve(1);
  }
  const size_t missing = parser_.missing_bytes();
  const bool fills_large = missing > 0 && parser_.capacity() > QueryBufferUse::kKeptBytes;
  return parser_.Reserve(std::clamp(missing, fills_large ? 1 : kReadBytes, kMostReadBytes));
} catch (const std::bad_alloc&) {
  return nullptr;
}

// Returns the thread's read buffer. The connection keeps it if it holds a request to run or many pending bytes.
void Connection::ReturnReadBuffer() {
  is_buffer_lent_ = false;
  if (has_request_ || parser_.capacity() != kReadBytes || parser_.pending_bytes() > kMostFittedBytes) return;
  thread_->ReturnReadBuffer(parser_.ReturnBuffer());
}

// Starts TLS. False while too few bytes have arrived.
bool Connection::BeginTls() {
  if (hello_ == nullptr) return true;
  tls_ = hello_->Begin();
  if (tls_ == nullptr) return false;
  hello_.reset();
  return true;
}

// Whether it will go on to run requests that it has received.
bool Connection::HasReceivedRequests() const {
  if (next_ == Next::kPark) return !is_parked_on_client_ && !has_request_;
  return next_ != Next::kRead && next_ != Next::kClose;
}

// Whether the last batch left bytes in the parser that must run before the next read.
bool Connection::MustRunBeforeRead() const {
  if (awaits_reader_ || parser_.pending_bytes() == 0) return false;
  return next_ == Next::kRunMore || next_ == Next::kAwaitReader;
}

// Whether the client has closed its side while a pause holds its request back. Such a connection is not read, because
// its buffer contains the request's arguments.
bool Connection::HasLeftPause() const {
  if (state_ != State::kParked || !has_request_) return false;
  pollfd socket{fd_, POLLRDHUP, 0};
  return poll(&socket, 1, 0) > 0;
}

// Reads the available bytes, at most one buffer. False if the connection was closed.
bool Connection::ReadSocket() {
  char* const place = MakeRoom();
  if (place == nullptr) {
    Close();
    return false;
  }
  const ssize_t size = tls_ == nullptr ? read(fd_, place, parser_.reserved()) : tls_->Read(place, parser_.reserved());
  if (size > 0) {
    parser_.Filled(static_cast<size_t>(size));
    query_use_.NoteRead(parser_.pending_bytes());
    NoteBuffers();
    thread_->worker().NoteRead(*client_, static_cast<uint64_t>(size));
    if (!client_->ExceedsQueryLimit(parser_.pending_bytes())) return true;
  } else if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
    return true;
  } else if (awaits_reader_) {
    is_at_end_ = true;  // the next read, after the received requests, finds the end again
    return true;
  }
  Close();
  return false;
}

// ---- running

void Connection::RunRequests(bool resume) {
  state_ = State::kInTick;
  wake_pending_ = false;
  if (out_.size() == 0) out_.Adopt(thread_->TakeOutput());
  const size_t unsent_before = unsent();
  next_ = RunBatch(thread_->worker(), false, resume);
  if (next_ == Next::kRead && parser_.missing_bytes() > kReadBytes) {  // a large argument counts from its announcement
    MakeRoom();
    is_buffer_lent_ = false;
    NoteBuffers();
  }
  ReturnReadBuffer();
  const size_t added = unsent() - unsent_before;
  if (added > kUnlimitedBytes) NoteBuffers();  // the tick may be long
  thread_->AddToTick(this, added);
}

// Runs requests again when the client has read enough. A client that reads slowly is slowed down, so that its unread
// replies stay limited. Its requests are still received, because it may have to write all of them before it reads.
void Connection::GoOnAfterReader() {
  if (!awaits_reader_ || state_ != State::kReading || is_shut() || unsent() > client_->most_unsent_bytes() / 2) return;
  awaits_reader_ = false;
  RunRequests(false);
}

// Whether the request must wait for the end of the tick: the tick is full, or its changes wake other clients, who come
// first. While another tick is being committed this one cannot end, so reads go on: a commit may wait for seconds.
bool Connection::MustAwaitTick(Worker& worker, bool slow, bool resume) {
  if (slow || !(worker.wakes_others() || worker.is_full())) return false;
  return resume || !thread_->is_committing() || worker.MayChange(*client_, parser_.argv());
}

Connection::Next Connection::RunBatch(Worker& worker, bool slow, bool resume) {
  const size_t unsent_before = unsent();
  if (resume || has_request_) {
    if (MustAwaitTick(worker, slow, resume)) {
      resumes_ = resume;
      return Next::kRetry;
    }
    const Next next = RunOne(worker, resume);
    if (next != Next::kRunMore || (slow && worker.is_write())) return next;
  }
  for (;;) {
    if (close_now_ || close_after_reply_) return Next::kClose;
    if (slow ? out_.size() > kMostSlowReplies : unsent() > unsent_before + kMostTurnReplies) return Next::kRunMore;
    if (!slow && !thread_->is_committing() && (worker.wakes_others() || worker.is_full())) return Next::kRunMore;
    if (parser_.pending_bytes() == 0) return Next::kRead;
    if (unsent() > client_->most_unsent_bytes()) return Next::kAwaitReader;
    const RequestLimits limits = client_->request_limits();
    if (!limits.authenticated && requests_before_login_++ == kBurstBeforeLogin) {
      requests_before_login_ = 0;
      throttle_us_ = kPauseBeforeLoginUs;
      return Next::kPark;
    }
    throttle_us_ = thread_->limit().Take();
    if (throttle_us_ > 0) return Next::kPark;
    const RequestParser::Outcome outcome = parser_.Next(limits);
    disk_.requests_ahead -= std::min<size_t>(disk_.requests_ahead, 1);
    if (outcome == RequestParser::Outcome::kError) {
      Reply(out_.bytes(), 2).Error("ERR " + parser_.error());
      close_after_reply_ = true;
      return Next::kClose;
    }
    if (outcome == RequestParser::Outcome::kIncomplete || parser_.argv().empty()) {
      thread_->limit().Return();
      if (outcome == RequestParser::Outcome::kIncomplete) return Next::kRead;
      continue;
    }
    if (MustAwaitTick(worker, slow, false)) {
      has_request_ = true;
      return Next::kRetry;
    }
    const Next next = RunOne(worker, false);
    // After a write the fast lane is better again: there the next request shares a commit with others.
    if (next != Next::kRunMore || (slow && worker.is_write())) return next;
  }
}

Connection::Next Connection::RunOne(Worker& worker, bool resume) {
  client_->TakePushed(out_.bytes());  // messages pushed before the request precede its reply
  const size_t start = out_.size();
  const RunResult result =
      resume ? worker.Resume(*client_, out_.bytes()) : worker.Run(*client_, parser_.argv(), out_.bytes());
  has_request_ = !resume && (result == RunResult::kWouldWait || result == RunResult::kPaused);
  resumes_ = resume && result == RunResult::kWouldWait;
  is_parked_on_client_ = result == RunResult::kParked;
  switch (result) {
    case RunResult::kWouldWait: return WayToWait(worker);
    case RunResult::kParked:
    case RunResult::kPaused: return Next::kPark;
    case RunResult::kAbort: close_now_ = true; return Next::kClose;
    case RunResult::kClose: close_after_reply_ = true; break;
    case RunResult::kDone: break;
  }
  retries_ = 0;
  if (disk_.missing.row.empty()) disk_.fetches = 0;
  disk_.missing = {};
  if ((worker.wrote() || has_uncommitted()) && out_.size() > start) out_.AwaitCommit(start);
  return close_after_reply_ ? Next::kClose : Next::kRunMore;
}

Connection::Next Connection::WayToWait(Worker& worker) {
  disk_.missing = worker.TakeMissing();
  // A write on the slow lane would block all other users of its key, so only the row that it misses is read there;
  // mostly the write checks whether a key exists, and it does not.
  if (!disk_.missing.row.empty() && worker.is_write() && disk_.fetches++ < kMostFetches) return Next::kFetch;
  const int most_tries = thread_->has_slow_jobs() ? kMostTriesAfterSlow : kMostTries;
  if (worker.met_lock() && retries_++ < most_tries) return Next::kRetry;
  disk_.fetches = retries_ = 0;
  disk_.is_write = worker.is_write();
  return Next::kGoSlow;
}

// ---- the end of the tick

// The second case is a request that waits for the end of the tick (MustAwaitTick); it would return at once.
bool Connection::NeedsCommit() const {
  if (has_uncommitted()) return true;
  return next_ == Next::kRetry && (thread_->worker().is_full() || thread_->worker().wakes_others());
}

void Connection::FinishTick(bool committed) {
  if (!committed && has_uncommitted()) out_.Replace(thread_->worker().commit_error());
  out_.NoteCommitted();
  if (close_now_) {
    Close();
    return;
  }
  if (!close_after_reply_) client_->TakePushed(out_.bytes());
  if (Flush()) Proceed();
}

void Connection::Proceed() {
  state_ = State::kReading;
  ReturnReadBuffer();
  if (!has_request_ && parser_.capacity() > kMostKeptBytes) {  // a request that runs again needs its bytes
    parser_.Shrink(kMostKeptBytes);
    NoteBuffers();
  }
  switch (next_) {
    case Next::kRead:
      WatchRead(true);
      MoveHome();
      break;
    case Next::kRunMore:
      WatchRead(true);
      events_.ReadSoon();
      break;
    case Next::kAwaitReader:
      awaits_reader_ = unsent() > client_->most_unsent_bytes() / 2;
      WatchRead(!awaits_reader_ || client_->request_limits().authenticated);
      if (!awaits_reader_) events_.ReadSoon();
      break;
    case Next::kFetch: Fetch(); break;
    // On the slow lane it would wait for the key and block the fast lane's later requests for it.
    case Next::kRetry:
      state_ = State::kCommitting;
      thread_->RunAgainSoon(this);
      break;
    case Next::kGoSlow: GoSlow(); break;
    case Next::kPark: Park(); break;
    case Next::kClose:
      WatchRead(false);
      if (unsent() == 0) Close();
      break;
  }
}

void Connection::Park() {
  state_ = State::kParked;
  if (wake_pending_) {
    RunRequests(is_parked_on_client_);
    return;
  }
  // A client that waits for a key may disconnect. A throttled one is not read, because it must not fill our memory.
  WatchRead(is_parked_on_client_);
  if (throttle_us_ > 0) {
    events_.Schedule(throttle_us_);
  } else if (client_->deadline_us() > 0) {
    events_.Schedule(client_->deadline_us() - MonotonicUs());
  }
  throttle_us_ = 0;
}

// Starts the disk reads of the request, if it has several keys, and of the next ones of its pipeline, so that the disk
// reads them at the same time. Thread: the slow lane's.
void Connection::ReadAhead(Worker& worker) {
  if (disk_.missing.row.empty()) return;  // it did not wait for the disk
  if (has_request_) worker.ReadAhead(*client_, parser_.argv(), 2);
  if (parser_.pending_bytes() == 0 || disk_.requests_ahead > kMostRequestsAhead / 2) return;
  size_t seen = 0;
  parser_.LookAhead(kMostRequestsAhead, [&](std::span<const std::string_view> argv) {
    if (seen++ >= disk_.requests_ahead) worker.ReadAhead(*client_, argv, 1);
  });
  disk_.requests_ahead = seen;
}

// The slow lane only reads the missing row from disk; the request itself then runs on this thread again.
void Connection::Fetch() {
  state_ = State::kSlow;
  const auto fetch = [self = shared_from_this()](Worker& worker) {
    self->ReadAhead(worker);
    worker.Fetch(self->disk_.missing.row);
  };
  thread_->RunSlow({.row = RowToReadAhead(), .is_write = false, .run = fetch}, [self = shared_from_this()] {
    if (!self->is_shut()) self->RunAgain();
  });
}

void Connection::GoSlow() {
  state_ = State::kSlow;  // OnReadable ignores the socket
  events_.WatchWrite(false);
  const auto run = [self = shared_from_this()](Worker& worker) {
    self->ReadAhead(worker);
    self->next_ = self->RunBatch(worker, true, self->resumes_);
    if (self->next_ == Next::kGoSlow) self->next_ = Next::kRunMore;
  };
  thread_->RunSlow({.row = RowToReadAhead(), .is_write = disk_.is_write, .run = run}, [self = shared_from_this()] {
    if (self->is_shut()) return;
    self->state_ = State::kInTick;
    self->FinishTick(true);
  });
}

// ---- sending

bool Connection::Flush() {
  // As in Redis, a client over its limit does not get a part of its replies.
  if (unsent() > kUnlimitedBytes && ExceedsOutputLimit()) {
    Close();
    return false;
  }
  for (size_t left = kMostSentBytes; unsent() > 0 && left > 0;) {
    const std::string_view bytes = out_.unsent().substr(0, left);
    const ssize_t size =
        tls_ == nullptr ? send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) : tls_->Write(bytes.data(), bytes.size());
    if (size > 0) {
      out_.NoteSent(static_cast<size_t>(size));
      left -= static_cast<size_t>(size);
      thread_->worker().NoteWritten(*client_, static_cast<uint64_t>(size));
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      if (!HasReceivedRequests()) {
        Close();
        return false;
      }
      out_.NoteSent(unsent());  // the client has closed; its received requests still run
    }
  }
  std::string unused = out_.DropSent();
  if (unused.capacity() > std::string().capacity()) thread_->ReturnOutput(std::move(unused));
  events_.WatchWrite(AwaitsWritable());
  NoteBuffers();
  return true;
}

// The timer calls this also when there is nothing to send, to end a client's time over its soft limit.
bool Connection::ExceedsOutputLimit() {
  const size_t limited = unsent() - std::min(unsent(), kUnlimitedBytes);
  return client_->ExceedsOutputLimit(limited, limited == 0 ? 0 : MonotonicUs());
}

void Connection::NoteBuffers() {
  const size_t query_capacity = (is_buffer_lent_ ? 0 : parser_.capacity()) + parser_.list_bytes();
  client_->NoteBuffers({.unread_bytes = parser_.unread_bytes(),
                        .argument_bytes = parser_.argument_bytes(),
                        .query_capacity = query_capacity,
                        .unsent_bytes = unsent(),
                        .output_capacity = out_.capacity(),
                        .tls_bytes = tls_ == nullptr  ? 0
                                     : in_handshake() ? kHandshakeBytes
                                                      : kTlsBytes,
                        .in_handshake = in_handshake()});
}

// ---- requests by other threads

void Connection::OnWake() {
  const Client::Wish wish = client_->TakeWish();
  switch (wish) {
    case Client::Wish::kNone: break;
    case Client::Wish::kCloseNow:
      close_now_ = true;
      if (is_at_rest()) Close();
      break;
    case Client::Wish::kCloseAfterReply:
      close_after_reply_ = true;
      if (is_at_rest() && unsent() == 0) Close();
      break;
    case Client::Wish::kResume:
      if (state_ == State::kParked) {  // also after CLIENT PAUSE
        RunRequests(is_parked_on_client_);
      } else {
        wake_pending_ = true;
      }
      break;
  }
  if (is_at_rest() && !is_shut() && !close_after_reply_) SendPushed();
}

// If the connection is not at rest, the end of the tick does the rest.
void Connection::SendPushed() {
  client_->TakePushed(out_.bytes());
  if (unsent() > 0 && !Flush()) return;
  MoveHome();
  GoOnAfterReader();
}

void Connection::MoveHome() {
  const Client::Pushed pushed = client_->pushed();
  if (pushed != Client::Pushed::kMessages) thread_->MoveHome(this, pushed);
}

void Connection::OnTimer(int64_t now_us) {
  if (state_ == State::kSlow || state_ == State::kCommitting) return;
  const size_t kept_bytes = query_use_.EndTick();
  if (state_ == State::kReading && !has_request_) parser_.Shrink(kept_bytes);
  NoteBuffers();
  const bool too_idle = (state_ == State::kReading && client_->IsIdleTooLong(now_us)) ||
                        (is_at_rest() && client_->IsLoginOverdue(now_us, in_handshake()));
  if (too_idle || HasLeftPause() || ExceedsOutputLimit()) Close();
}

}  // namespace cairn
