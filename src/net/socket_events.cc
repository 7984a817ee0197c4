// SPDX-License-Identifier: BSD-3-Clause
#include "net/socket_events.h"

#include <event2/event.h>

#include <algorithm>

namespace cairn {

void SocketEvents::Make(event_base* base, int fd, const Callbacks& callbacks) {
  read_ = event_new(base, fd, EV_READ | EV_PERSIST, callbacks.on_readable, callbacks.self);
  write_ = event_new(base, fd, EV_WRITE | EV_PERSIST, callbacks.on_writable, callbacks.self);
  deadline_ = event_new(base, -1, 0, callbacks.on_deadline, callbacks.self);
}

void SocketEvents::Free() {
  for (event** each : {&read_, &write_, &deadline_}) {
    if (*each != nullptr) event_free(*each);
    *each = nullptr;
  }
  watches_read_ = watches_write_ = false;
}

void SocketEvents::WatchRead(bool on) {
  if (on == watches_read_) return;
  watches_read_ = on;
  on ? event_add(read_, nullptr) : event_del(read_);
}

void SocketEvents::WatchWrite(bool on) {
  if (on == watches_write_) return;
  watches_write_ = on;
  on ? event_add(write_, nullptr) : event_del(write_);
}

void SocketEvents::ReadSoon() { event_active(read_, EV_READ, 0); }

void SocketEvents::Schedule(int64_t delay_us) {
  delay_us = std::max<int64_t>(delay_us, 1);
  const timeval delay{delay_us / 1000000, delay_us % 1000000};
  event_add(deadline_, &delay);
}

}  // namespace cairn
