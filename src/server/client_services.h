// SPDX-License-Identifier: BSD-3-Clause
//
// ClientServices: the parts that all clients share and that need no store: users, pub/sub, tracking, memory limits and
// the like. They are created before the first client and outlive the last one.
//
// Thread: any, as each part allows.
#pragma once

#include "acl/access_log.h"
#include "acl/users.h"
#include "client/client_memory.h"
#include "client/client_registry.h"
#include "client/cross_protocol.h"
#include "client/monitors.h"
#include "client/notifier.h"
#include "client/pubsub.h"
#include "client/tracking.h"
#include "client/writable_replica_expires.h"
#include "config/settings.h"

namespace cairn {

struct ClientServices {
  ClientServices(Catalogue catalogue, const Settings& settings)
      : memory(registry, settings), users(std::move(catalogue), settings.acl_pubsub_default),
        access_log(settings.acllog_max_len) {}

  ClientRegistry registry;
  ClientMemory memory;
  Users users;
  AccessLog access_log;
  PubSub pubsub;
  Tracking tracking{registry};
  WritableReplicaExpires writable_replica_expires;
  const Notifier notifier{pubsub, tracking, writable_replica_expires};
  Monitors monitors;
  CrossProtocolAlarm cross_protocol;
};

}  // namespace cairn
