// SPDX-License-Identifier: BSD-3-Clause
//
// SocketEvents: the libevent events of one socket: readable, writable, and a deadline. They exist from Make to Free;
// an event is added or deleted only when that changes something.
//
// Thread: that of the event base.
#pragma once

#include <cstdint>

struct event;
struct event_base;

namespace cairn {

class SocketEvents {
 public:
  using Callback = void (*)(int fd, short what, void* self);
  struct Callbacks {
    Callback on_readable;
    Callback on_writable;
    Callback on_deadline;
    void* self;
  };

  SocketEvents() = default;
  ~SocketEvents() { Free(); }
  SocketEvents(const SocketEvents&) = delete;
  SocketEvents& operator=(const SocketEvents&) = delete;

  void Make(event_base* base, int fd, const Callbacks& callbacks);
  void Free();
  bool exist() const { return read_ != nullptr; }

  void WatchRead(bool on);
  void WatchWrite(bool on);
  bool watches_read() const { return watches_read_; }
  // Calls on_readable soon. REQUIRES: WatchRead(true), because an active event cannot be added.
  void ReadSoon();
  void Schedule(int64_t delay_us);

 private:
  event* read_ = nullptr;
  event* write_ = nullptr;
  event* deadline_ = nullptr;
  bool watches_read_ = false;
  bool watches_write_ = false;
};

}  // namespace cairn
