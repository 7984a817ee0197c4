// SPDX-License-Identifier: BSD-3-Clause
//
// HttpEndpoint: one page over HTTP, made anew for everybody who asks: GET or HEAD <path>. Anything else is an error.
//
// It has a thread of its own, so a scrape holds up no client, and making the page may wait. There is no TLS and no
// password: whoever reaches the port may read the page, unless the page says otherwise (403).
//
// It has kMostHttpConnections at most. A new connection takes the place of the one that has asked for nothing for the
// longest time, so that idle connections use up neither descriptors nor the turn of a scraper.
//
// Thread: the owner's; the page is made on "metrics".
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"

struct event;
struct event_base;

namespace cairn {

inline constexpr int kMostHttpConnections = 16;

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
  static Result<std::unique_ptr<HttpEndpoint>> Open(const std::vector<std::string>& addresses, int port, HttpPage page);
  ~HttpEndpoint();
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

 private:
  class Peer;

  HttpEndpoint(std::vector<int> sockets, HttpPage page);
  void Accept(int socket);
  void Pause();
  void NoteAsked(const Peer& peer);
  void Close(const Peer& peer);
  // The answer to the request whose head this is; sets `keeps_open`.
  std::string Answer(std::string_view head, bool is_loopback, bool& keeps_open) const;

  const HttpPage page_;
  event_base* base_;
  int wake_fd_;
  event* wake_event_;
  event* resume_event_;  // after Pause
  std::vector<int> sockets_;
  std::vector<event*> accept_events_;       // of sockets_
  std::list<std::unique_ptr<Peer>> peers_;  // the one that has asked last is last
  std::thread thread_;
};

}  // namespace cairn
