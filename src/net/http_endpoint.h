// SPDX-License-Identifier: BSD-3-Clause
//
// HttpEndpoint: serves one page over HTTP, generated for each GET or HEAD <path>. Any other request is an error.
//
// It has its own thread, so a scrape delays no client, and generating the page may wait. There is no TLS and no
// password: every host that reaches the port may read the page, unless the page refuses it (403).
//
// It has at most kMostHttpConnections. A new connection replaces the one whose last request is oldest, so idle
// connections use up neither descriptors nor a scraper's turn.
//
// Thread: the owner's; the page is generated on "metrics".
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
  // Called for each request; `is_loopback`: it comes from this machine.
  std::function<bool(bool is_loopback)> may_read;
};

class HttpEndpoint {
 public:
  // Binds `addresses`, in the syntax of ListenerOptions, and starts to serve; kIo with a message on an error.
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
  // The answer to the request with this head; sets `keeps_open`.
  std::string Answer(std::string_view head, bool is_loopback, bool& keeps_open) const;

  const HttpPage page_;
  event_base* base_;
  int wake_fd_;
  event* wake_event_;
  event* resume_event_;  // after Pause
  std::vector<int> sockets_;
  std::vector<event*> accept_events_;       // of sockets_
  std::list<std::unique_ptr<Peer>> peers_;  // the one with the newest request is last
  std::thread thread_;
};

}  // namespace cairn
