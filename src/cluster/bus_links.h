// SPDX-License-Identifier: BSD-3-Clause
//
// BusLinks: the sockets of the cluster bus: a listener, the connections of other nodes, and the connections to them.
// With TLS (directive tls-cluster) both ends need a certificate. Sockets do not block; bytes that a socket does not
// take wait in a buffer, which has a limit (directive cluster-link-sendbuf-limit). Damaged bytes close a link.
//
// Thread: its user makes sure that one thread calls at a time; Wait may run beside any other function.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/tls.h"
#include "bus/message.h"
#include "cluster/bus_peers.h"

namespace cairn {

class BusLinks {
 public:
  // What happens on the sockets. A callback may call the functions of the links.
  struct Events {
    // Another node has connected; returns the number of the link, 0 to refuse it.
    std::function<BusLinkId(std::string peer_ip, std::string own_ip)> on_accepted;
    std::function<void(BusLinkId link)> on_opened;
    std::function<void(BusLinkId link)> on_closed;
    // Returns whether the sender is a node of the cluster.
    std::function<bool(BusLinkId link, const Message& message)> on_message;
  };

  explicit BusLinks(Events events) : events_(std::move(events)) {}
  ~BusLinks();
  BusLinks(const BusLinks&) = delete;
  BusLinks& operator=(const BusLinks&) = delete;

  // Listens on each of the addresses, as the listeners of clients do. With `tls` all links use TLS.
  Status Listen(const std::vector<std::string>& addresses, int port, const Tls* tls);
  // Waits for events, at most this long. Wake ends the wait.
  void Wait(int64_t most_ms);
  void Wake() const;
  // Handles the events of the last Wait.
  void Handle();

  void Open(BusLinkId link, const std::string& ip, uint16_t port);
  void Close(BusLinkId link);
  void CloseAll();
  void Send(BusLinkId link, const Message& message);
  // Sends that follow only fill the buffers of the links, until EndBatch writes these to the sockets.
  void BeginBatch() { in_batch_ = true; }
  void EndBatch();
  // Closes the links with more unsent bytes than this; 0 is no limit.
  void CloseLinksAbove(size_t limit_bytes);
  // The allocated and the used bytes of a link's buffer, and whether it waits for its socket.
  struct Buffer {
    size_t allocated = 0;
    size_t used = 0;
    bool is_writing = false;
  };
  Buffer BufferOf(BusLinkId link) const;
  // The number of links that CloseLinksAbove has closed.
  uint64_t closed_above_limit() const { return closed_above_limit_; }

 private:
  struct Socket {
    int fd = -1;
    std::unique_ptr<TlsStream> tls;  // null: no TLS
    bool is_connecting = false;
    bool is_trusted = false;  // it belongs to a node of the cluster
    std::string peer;         // for the log
    std::string received;
    std::string unsent;
    size_t sent = 0;      // bytes at the begin of `unsent` that were sent
    uint32_t events = 0;  // that epoll waits for
  };

  void Watch(int fd, uint64_t number, uint32_t events, bool is_new) const;
  // Waits for what the link needs next.
  void WatchLink(BusLinkId id, Socket& socket) const;
  void Connected(BusLinkId id, Socket& socket);
  static void CloseSocket(Socket& socket);
  void Accept(int listener);
  // Each returns false if the link has broken.
  bool Read(BusLinkId id);
  bool Write(Socket& socket);
  bool TakeMessages(BusLinkId id);
  void Complain(const Socket& socket, std::string_view reason);
  void Break(BusLinkId id);

  const Events events_;
  const Tls* tls_ = nullptr;
  int epoll_ = -1;
  int wake_ = -1;
  std::vector<int> listeners_;
  bool must_accept_ = false;  // connections may wait that epoll does not report again
  std::map<BusLinkId, Socket> sockets_;
  std::vector<BusLinkId> failed_;  // connections that failed at once
  std::vector<epoll_event> ready_;
  int ready_count_ = 0;
  bool in_batch_ = false;
  int64_t complained_ms_ = 0;
  uint64_t closed_above_limit_ = 0;
};

}  // namespace cairn
