// SPDX-License-Identifier: BSD-3-Clause
//
// HttpEndpoint: one page over HTTP, made anew for everybody who asks: GET <path>. Anything else is 404 or 405.
//
// It stands on libevent's evhttp, on a thread of its own, so a scrape holds up no client, and making the page may wait.
// There is no TLS and no password: whoever reaches the port may read the page, unless the page says otherwise (403).
//
// Thread: the owner's; the page is made on "metrics".
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"

struct evhttp;
struct evhttp_request;
struct event;
struct event_base;

namespace cairn {

struct HttpPage {
  std::string path;
  std::string content_type;
  std::function<std::string()> make;
  // Asked for each request, with whether it comes from this machine.
  std::function<bool(bool is_loopback)> may_read;
};

class HttpEndpoint {
 public:
  // Binds `addresses`, written as ListenerOptions has them, and begins to serve; kIo with a sentence when that cannot
  // be done.
  static Result<std::unique_ptr<HttpEndpoint>> Open(const std::vector<std::string>& addresses, int port,
                                                    HttpPage page);
  ~HttpEndpoint();
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

 private:
  HttpEndpoint(std::vector<int> sockets, HttpPage page);
  void Answer(evhttp_request* request);

  const HttpPage page_;
  event_base* base_;
  evhttp* http_;
  int wake_fd_;
  event* wake_event_;
  std::thread thread_;
};

}  // namespace cairn
