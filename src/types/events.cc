// SPDX-License-Identifier: BSD-3-Clause
#include "types/events.h"

#include <string>

namespace cairn {
namespace {

std::string ChannelName(std::string_view kind, int db, std::string_view about) {
  std::string name("__");
  name.append(kind).append("@").append(std::to_string(db)).append("__:").append(about);
  return name;
}

}  // namespace

void EmitEvent(Transaction& txn, int db, std::string_view event, std::string_view key) {
  if (txn.replicated_commands().interest() & kToKeyspace) {
    txn.notifications().Add({NotificationKind::kMessage, ChannelName("keyspace", db, key), std::string(event)});
  }
  if (txn.replicated_commands().interest() & kToKeyevent) {
    txn.notifications().Add({NotificationKind::kMessage, ChannelName("keyevent", db, event), std::string(key)});
  }
}

}  // namespace cairn
