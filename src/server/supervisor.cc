// SPDX-License-Identifier: BSD-3-Clause
#include "server/supervisor.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/log.h"

namespace cairn {

Supervisor::Supervisor(Supervised supervised) : is_promised_(supervised == Supervised::kSystemd) {
  const char* socket = std::getenv("NOTIFY_SOCKET");
  if (supervised != Supervised::kNo && socket != nullptr) socket_ = socket;
}

void Supervisor::NotifyReady() const {
  Send("READY=1\nSTATUS=Ready to accept connections\n");
  if (!is_promised_ || present()) return;
  Log(LogSeverity::kWarning, "supervised is systemd, but NOTIFY_SOCKET is not set; systemd gets no messages");
}

void Supervisor::NotifyStopping() const { Send("STOPPING=1\nSTATUS=Shutting down\n"); }

void Supervisor::Send(std::string_view message) const {
  if (!present()) return;
  sockaddr_un address{.sun_family = AF_UNIX};
  if (socket_.size() > sizeof address.sun_path) {
    Log(LogSeverity::kWarning, "NOTIFY_SOCKET is too long: {}", socket_);
    return;
  }
  std::copy(socket_.begin(), socket_.end(), address.sun_path);
  if (socket_[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto* target = reinterpret_cast<const sockaddr*>(&address);
  if (fd < 0 || sendto(fd, message.data(), message.size(), MSG_NOSIGNAL, target, size) < 0) {
    Log(LogSeverity::kWarning, "A message to the supervisor at {} failed: {}", socket_, strerror(errno));
  }
  if (fd >= 0) close(fd);
}

}  // namespace cairn
