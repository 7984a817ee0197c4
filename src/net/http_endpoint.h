// SPDX-License-Identifier: BSD-3-Clause
//
// HttpEndpoint: serves the pages of a site over HTTP, each generated for each GET or HEAD <path>. Any other request is
// an error.
//
// It has its own thread, so a scrape delays no client, and generating a page may wait. There is no TLS and no
// password: every host that reaches the port may read all pages, unless the site refuses it (403).
//
// It has at most kMostHttpConnections. A new connection replaces the one whose last request is oldest, so idle
// connections use up neither descriptors nor a scraper's turn.
//
// Thread: the owner's; pages are generated on "metrics".
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
  std::string headers = {};  // lines beside the usual ones, each with its line end
};

struct HttpSite {
  std::vector<HttpPage> pages;
  // Called for each request of a page; `is_loopback`: it comes from this machine.
  std::function<bool(bool is_loopback)> may_read;
};

class HttpEndpoint {
 public:
  // Binds `addresses`, in the syntax of ListenerOptions, and starts to serve; kIo with a message on an error.
  static Result<std::unique_ptr<HttpEndpoint>> Open(const std::vector<std::string>& addresses, int port, HttpSite site);
  ~HttpEndpoint();
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

 private:
  class Peer;

  HttpEndpoint(std::vector<int> sockets, HttpSite site);
  void Accept(int socket);
  void Pause();
  void NoteAsked(const Peer& peer);
  void Close(const Peer& peer);
  // The answer to the request with this head; sets `keeps_open`.
  std::string Answer(std::string_view head, bool is_loopback, bool& keeps_open) const;

  const HttpSite site_;
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
