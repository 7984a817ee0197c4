// SPDX-License-Identifier: BSD-3-Clause
//
// Supervisor: systemd, if it started the server and waits for its messages (`supervised`). A message is one datagram to
// the socket that the environment variable NOTIFY_SOCKET names, as sd_notify(3) specifies it.
//
// Thread: main.
#pragma once

#include <string>
#include <string_view>

namespace cairn {

// The choices of the directive `supervised`, in its order.
enum class Supervised : unsigned char { kNo, kSystemd, kAuto };

class Supervisor {
 public:
  // The environment decides about kAuto.
  explicit Supervisor(Supervised supervised);

  bool present() const { return !socket_.empty(); }
  // Returns INFO's process_supervised.
  std::string_view name() const { return present() ? "systemd" : "no"; }

  // Reports that the server accepts connections; logs if `supervised` promised a supervisor that is not there.
  void NotifyReady() const;
  // Reports that a shutdown began.
  void NotifyStopping() const;

 private:
  // Sends nothing without a supervisor; logs an error.
  void Send(std::string_view message) const;

  const bool is_promised_;
  std::string socket_;  // a path, or @ and an abstract name; empty: nobody waits for messages
};

}  // namespace cairn
