// SPDX-License-Identifier: BSD-3-Clause
#include "config/allowed.h"

#include "base/mutex.h"
#include "config/settings.h"

namespace cairn {

bool IsUnixPeer(std::string_view peer) { return peer.starts_with('/'); }

bool IsLocalPeer(std::string_view peer) {
  return IsUnixPeer(peer) || peer.starts_with("127.") || peer.starts_with("[::1]:");
}

bool IsAllowed(const std::atomic<int64_t>& setting, Session& session) {
  switch (static_cast<Allowed>(setting.load())) {
    case Allowed::kYes: return true;
    case Allowed::kNo: return false;
    case Allowed::kLocal: break;
  }
  const MutexLock lock(session.mutex());
  return IsLocalPeer(session.socket.peer);
}

}  // namespace cairn
