// SPDX-License-Identifier: BSD-3-Clause
#include "net/http_endpoint.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/thread.h"
#include "net/listener.h"

namespace cairn {
namespace {

constexpr int kIdleSeconds = 60;  // then a connection that asks for nothing is closed
constexpr ssize_t kMostHeaderBytes = 16 << 10;
constexpr ssize_t kMostBodyBytes = 4 << 10;
constexpr int kBacklog = 16;
constexpr int kForbidden = 403;

}  // namespace

Result<std::unique_ptr<HttpEndpoint>> HttpEndpoint::Open(const std::vector<std::string>& addresses, int port,
                                                         HttpPage page) {
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
  return std::unique_ptr<HttpEndpoint>(new HttpEndpoint(std::move(sockets), std::move(page)));
}

HttpEndpoint::HttpEndpoint(std::vector<int> sockets, HttpPage page)
    : page_(std::move(page)), base_(event_base_new()), http_(evhttp_new(base_)),
      wake_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  ASSERT(base_ != nullptr && http_ != nullptr && wake_fd_ >= 0, "no event loop");
  evhttp_set_timeout(http_, kIdleSeconds);
  evhttp_set_max_headers_size(http_, kMostHeaderBytes);
  evhttp_set_max_body_size(http_, kMostBodyBytes);
  evhttp_set_allowed_methods(http_, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
  const auto answer = [](evhttp_request* request, void* self) { static_cast<HttpEndpoint*>(self)->Answer(request); };
  const auto refuse = [](evhttp_request* request, void*) { evhttp_send_error(request, HTTP_NOTFOUND, nullptr); };
  evhttp_set_cb(http_, page_.path.c_str(), answer, this);
  evhttp_set_gencb(http_, refuse, nullptr);
  for (const int socket : sockets) {
    const int outcome = evhttp_accept_socket(http_, socket);
    ASSERT(outcome == 0, "a listening socket is refused");
  }
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
  event_free(wake_event_);
  evhttp_free(http_);
  event_base_free(base_);
  close(wake_fd_);
}

void HttpEndpoint::Answer(evhttp_request* request) {
  const sockaddr* const peer = evhttp_connection_get_addr(evhttp_request_get_connection(request));
  if (!page_.may_read(peer != nullptr && IsLoopback(*peer))) {
    evhttp_send_error(request, kForbidden, "Forbidden");
    return;
  }
  const std::string text = page_.make();
  evbuffer* body = evbuffer_new();
  evbuffer_add(body, text.data(), text.size());
  evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type", page_.content_type.c_str());
  evhttp_send_reply(request, HTTP_OK, "OK", body);
  evbuffer_free(body);
}

}  // namespace cairn
