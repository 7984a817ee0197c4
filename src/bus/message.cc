// SPDX-License-Identifier: BSD-3-Clause
#include "bus/message.h"

namespace cairn {

std::string_view MessageTypeName(MessageType type) {
  constexpr std::string_view kNames[kMessageTypeCount] = {
      "ping", "pong", "meet", "fail", "publish", "auth-req", "auth-ack", "update", "mfstart", "module", "publishshard"};
  return kNames[static_cast<size_t>(type)];
}

}  // namespace cairn
