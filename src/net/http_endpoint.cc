// SPDX-License-Identifier: BSD-3-Clause
#include "net/http_endpoint.h"

#include <event2/event.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/assert.h"
#include "base/thread.h"
#include "net/http_request.h"
#include "net/listener.h"

namespace cairn {
namespace {

constexpr timeval kIdleTimeout{60, 0};  // an idle connection is closed after this
constexpr timeval kAcceptPause{0, 100000};
constexpr size_t kMostHeadBytes = 16 << 10;
constexpr int kBacklog = 128;
constexpr std::string_view kPlainText = "text/plain";

}  // namespace

// A connection. It reads one request, answers it, and then reads the next one.
class HttpEndpoint::Peer {
 public:
  Peer(HttpEndpoint& endpoint, int fd, bool is_loopback) : endpoint_(endpoint), fd_(fd), is_loopback_(is_loopback) {
    Watch(EV_READ);
  }
  ~Peer() {
    event_free(event_);
    close(fd_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

 private:
  void Watch(short what) {
    if (event_ != nullptr) event_free(event_);
    const auto on_event = [](int, short happened, void* self) { static_cast<Peer*>(self)->OnEvent(happened); };
    event_ = event_new(endpoint_.base_, fd_, static_cast<short>(what | EV_PERSIST), on_event, this);
    event_add(event_, &kIdleTimeout);
  }

  void OnEvent(short happened) {
    const bool goes_on = (happened & EV_TIMEOUT) == 0 && (happened & EV_READ ? Read() : true) && Send();
    if (!goes_on) endpoint_.Close(*this);
  }

  bool Read() {
    char bytes[4096];
    const ssize_t got = recv(fd_, bytes, sizeof bytes, 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    in_.append(bytes, static_cast<size_t>(got));
    return got > 0 && in_.size() <= kMostHeadBytes;
  }

  // Answers the requests read so far and sends the answers; false: the connection has ended.
  bool Send() {
    for (;;) {
      const size_t head = out_.empty() && keeps_open_ ? HttpHeadSize(in_) : 0;
      if (head > 0) {
        endpoint_.NoteAsked(*this);
        out_ = endpoint_.Answer(std::string_view(in_).substr(0, head), is_loopback_, keeps_open_);
        in_.erase(0, head);
      }
      if (out_.empty()) break;
      const ssize_t sent = send(fd_, out_.data(), out_.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN) return errno == EINTR;
      if (sent < 0) {
        if (!is_sending_) Watch(EV_WRITE);
        is_sending_ = true;
        return true;
      }
      out_.erase(0, static_cast<size_t>(sent));
    }
    if (is_sending_) Watch(EV_READ);
    is_sending_ = false;
    return keeps_open_;
  }

  HttpEndpoint& endpoint_;
  const int fd_;
  const bool is_loopback_;
  event* event_ = nullptr;
  std::string in_;
  std::string out_;
  bool keeps_open_ = true;
  bool is_sending_ = false;
};

Result<std::unique_ptr<HttpEndpoint>> HttpEndpoint::Open(const std::vector<std::string>& addresses, int port,
                                                         HttpSite site) {
  std::vector<int> sockets;
  Status failure;
  for (const std::string& address : addresses) {
    Result<int> fd = ListenTcp(address, port, kBacklog);
    if (!fd.ok()) {
      failure = std::move(fd).TakeStatus();
      break;
    }
    if (*fd >= 0) sockets.push_back(*fd);
  }
  if (failure.ok() && sockets.empty()) failure = Status::Io("no address to listen on");
  if (!failure.ok()) {
    for (const int socket : sockets) close(socket);
    return failure;
  }
  return std::unique_ptr<HttpEndpoint>(new HttpEndpoint(std::move(sockets), std::move(site)));
}

HttpEndpoint::HttpEndpoint(std::vector<int> sockets, HttpSite site)
    : site_(std::move(site)), base_(event_base_new()), wake_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      sockets_(std::move(sockets)) {
  ASSERT(base_ != nullptr && wake_fd_ >= 0, "no event loop");
  const auto on_accept = [](int fd, short, void* self) { static_cast<HttpEndpoint*>(self)->Accept(fd); };
  for (const int socket : sockets_) {
    accept_events_.push_back(event_new(base_, socket, EV_READ | EV_PERSIST, on_accept, this));
    event_add(accept_events_.back(), nullptr);
  }
  const auto resume = [](int, short, void* self) {
    for (event* const accept : static_cast<HttpEndpoint*>(self)->accept_events_) event_add(accept, nullptr);
  };
  resume_event_ = event_new(base_, -1, 0, resume, this);
  const auto end = [](int, short, void* base) { event_base_loopbreak(static_cast<event_base*>(base)); };
  wake_event_ = event_new(base_, wake_fd_, EV_READ, end, base_);
  event_add(wake_event_, nullptr);
  thread_ = StartThread("metrics", [this] { event_base_dispatch(base_); });
}

HttpEndpoint::~HttpEndpoint() {
  const uint64_t one = 1;
  const ssize_t written = write(wake_fd_, &one, sizeof one);
  ASSERT(written == sizeof one, "the thread cannot be told to end");
  thread_.join();
  peers_.clear();
  for (event* const accept : accept_events_) event_free(accept);
  for (const int socket : sockets_) close(socket);
  event_free(resume_event_);
  event_free(wake_event_);
  event_base_free(base_);
  close(wake_fd_);
}

// Accepts one connection per turn: requests of waiting connections are read in between, so a connection with a request
// is answered before it can be closed to make room.
void HttpEndpoint::Accept(int socket) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  const int fd = accept4(socket, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) {
    if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) Pause();
    return;
  }
  if (peers_.size() == kMostHttpConnections) peers_.pop_front();
  peers_.push_back(std::make_unique<Peer>(*this, fd, IsLoopback(reinterpret_cast<const sockaddr&>(peer))));
}

// Called without a descriptor or memory for another connection; an immediate retry would use up a processor.
void HttpEndpoint::Pause() {
  for (event* const accept : accept_events_) event_del(accept);
  event_add(resume_event_, &kAcceptPause);
}

void HttpEndpoint::NoteAsked(const Peer& peer) {
  const auto is_it = [&peer](const std::unique_ptr<Peer>& one) { return one.get() == &peer; };
  peers_.splice(peers_.end(), peers_, std::find_if(peers_.begin(), peers_.end(), is_it));
}

void HttpEndpoint::Close(const Peer& peer) {
  std::erase_if(peers_, [&peer](const std::unique_ptr<Peer>& one) { return one.get() == &peer; });
}

std::string HttpEndpoint::Answer(std::string_view head, bool is_loopback, bool& keeps_open) const {
  const HttpRequest request = ParseHttpHead(head);
  const bool is_head = request.method == "HEAD";
  keeps_open = request.keeps_open;
  const auto refuse = [&](int status, std::string_view reason) {
    return FormatHttpAnswer({status, reason, kPlainText, reason}, !is_head, keeps_open);
  };
  if (!request.is_valid) return refuse(400, "Bad Request");
  if (!is_head && request.method != "GET") return refuse(405, "Method Not Allowed");
  const auto page = std::find_if(site_.pages.begin(), site_.pages.end(),
                                 [&request](const HttpPage& one) { return one.path == request.path; });
  if (page == site_.pages.end()) return refuse(404, "Not Found");
  if (!site_.may_read(is_loopback)) return refuse(403, "Forbidden");
  return FormatHttpAnswer({200, "OK", page->content_type, page->make(), page->headers}, !is_head, keeps_open);
}

}  // namespace cairn
